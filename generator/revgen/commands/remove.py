"""`revgen remove`: take a revision out of specs/."""

from __future__ import annotations

import pathlib
import shutil
import tempfile

import click

from ..editing.inventory_files import declared_versions
from ..editing.removal import Removal, take_out
from ..schemas.revisions import load_removed
from ..writing import files
from .options import (
    Settings,
    found_by_lint,
    problem_data,
    require_revision,
    show_problems,
    show_what_is_left,
    takes_settings,
)


@click.command(name="remove")
@click.argument("revision")
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="Write its answers to this new file, for 'revgen new --answers'.",
)
@takes_settings()
def command(settings: Settings, revision: str, keep: pathlib.Path | None) -> None:
    """Take REVISION out of specs/: entry, schema, corrections and every answer.

    Choices, rules and macros that only it used stay; lint lists them, and generate goes on without them.

    It ends with 0 where generate can go on; with 3 where it is out and the rest has faults, which are listed and to be answered first; with
    1 where it is refused, and nothing is changed.

    \b
    Examples:
      revgen remove 2001-01-01
      revgen remove 2001-01-01 --keep 2001-01-01.yaml
    """
    versions = declared_versions(settings.root)
    require_revision(revision, versions)
    if len(versions) == 1:
        raise click.UsageError(f"{revision} is the only revision, and there has to be one")
    if keep is not None and keep.exists():
        raise click.UsageError(f"{keep} exists already")
    removal = take_out(settings.root, revision, may_come_back=False)
    if _something_waits(settings.root, removal):
        removal = take_out(settings.root, revision, may_come_back=True)
    kept = {str(keep.resolve()): removal.kept.text(revision, keep, settings.root)} if keep is not None else {}
    files.apply(settings.root, {**kept, **removal.texts})
    problems = found_by_lint(settings.root)
    changed = [path for path, text in removal.texts.items() if text is not None]
    removed = [path for path, text in removal.texts.items() if text is None]
    lines = [*(f"changed {path}" for path in changed), *(f"removed {path}" for path in removed)]
    lines += [f"kept its answers in {keep}"] if keep is not None else []
    data = {"changed": changed, "removed": removed, "problems": [problem_data(problem) for problem in problems]}
    settings.show(data, "\n".join(lines))
    if not settings.as_json:
        show_problems((problem for problem in problems if problem.degree == "remark"), to_error=True)
    show_what_is_left(settings, [problem for problem in problems if problem.degree != "remark"])


def _something_waits(root: pathlib.Path, removal: Removal) -> bool:
    """Would something that stays be a fault without the revision, as far as nobody knows that it may come back?"""
    if load_removed(root):
        return True  # what nothing knows may be another's, so it cannot be told
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("specs", "templates"):
            shutil.copytree(root / name, copy / name)
        files.apply(copy, removal.texts)
        return any(problem.degree == "fault" for problem in found_by_lint(copy))

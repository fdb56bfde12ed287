"""`revgen finalize`: make a draft the revision that it became."""

from __future__ import annotations

from typing import BinaryIO

import click

from ..editing.finalizing import finalize
from ..editing.importing import Declared, ImportRefused, prepare_import
from ..editing.inventory_files import declared_versions
from ..writing import files
from .import_schema import report_data, report_text
from .options import Settings, found_by_lint, problem_data, require_revision, show_what_is_left, stop, takes_settings


@click.command(name="finalize")
@click.argument("draft")
@click.argument("revision")
@click.option("--schema", required=True, type=click.File("rb"), help="The schema as it was published in the end.")
@click.option("--source", help="The address that it was published at.")
@takes_settings()
def command(settings: Settings, draft: str, revision: str, schema: BinaryIO, source: str | None) -> None:
    """Make DRAFT, a release candidate, the published REVISION.

    Its answers, marks, corrections and vectors go over; schema, source and pages are those of REVISION. Where the schema says something
    else than before, what rests on it is marked for review.

    It ends with 0 where generate can go on; with 3 where all is written and has faults, which are listed and to be answered first; with 1
    where it is refused, and nothing is changed.

    \b
    Examples:
      revgen finalize 2003-03-03-rc.1 2003-03-03 --schema schema.json
    """
    versions = declared_versions(settings.root)
    require_revision(draft, versions)
    if revision in versions:
        raise click.UsageError(f"{revision} is a revision already; 'revgen remove' takes one of the two out")
    try:
        prepared = prepare_import(
            settings.root,
            revision,
            schema.read(),
            Declared(source=source, after=draft, draft=False),
            path=schema.name,
        )
    except ImportRefused as error:
        stop(settings, error.problems)
    made = finalize(settings.root, draft, revision, prepared)
    files.apply(settings.root, made.texts)
    problems = found_by_lint(settings.root)
    data = {
        "import": report_data(prepared.report),
        "changed": sorted(path for path, text in made.texts.items() if text is not None),
        "removed": sorted(path for path, text in made.texts.items() if text is None),
        "answers": made.answers,
        "marked": list(made.marked),
        "corrections": {"kept": made.corrections, "dropped": made.dropped},
        "problems": [problem_data(problem) for problem in problems],
    }
    lines = [
        report_text(prepared.report),
        f"{draft} is {revision} now: {made.answers} answers, {made.corrections} corrections",
        *([f"{made.dropped} corrections find nothing to correct, and are gone"] if made.dropped else []),
        *([f"to be looked at, since the schema says something else: {', '.join(made.marked)}"] if made.marked else []),
    ]
    settings.show(data, "\n".join(lines))
    show_what_is_left(settings, problems)

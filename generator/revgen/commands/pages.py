"""`revgen pages`: the headings that citations may name."""

from __future__ import annotations

import pathlib

import click

from ..editing.pages import NoPages, read_checkout
from ..reading.located import Problems, SpecificationError
from ..schemas.pages import pages_path
from ..schemas.revisions import load_revisions
from ..writing.files import apply
from .options import Settings, require_revision, takes_settings


@click.command(name="pages")
@click.argument("revision")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=pathlib.Path))
@takes_settings()
def command(settings: Settings, revision: str, folder: pathlib.Path) -> None:
    """Write down which pages of REVISION there are, and their headings.

    FOLDER is a checkout of the specification, with docs/specification/REVISION. Citations are held against what is written; of the
    pages only paths and headings are kept, and line numbers of the published schema where no page has a heading for a definition.

    \b
    Examples:
      revgen pages 2001-01-01 ~/modelcontextprotocol
      revgen pages 2001-01-01 ~/modelcontextprotocol/docs/specification/draft
    """
    problems = Problems()
    revisions = load_revisions(settings.root, problems)
    path = pages_path(revision)
    # What is written anew may be as broken as it likes.
    if others := [problem for problem in problems.found if problem.place.path != path]:
        raise SpecificationError(others)
    require_revision(revision, [known.version for known in revisions])
    declared = next(known for known in revisions if known.version == revision)
    try:
        found = read_checkout(folder, declared)
    except NoPages as error:
        raise click.UsageError(str(error)) from error
    text = found.text(revision)
    known_before = (settings.root / path).read_bytes() if (settings.root / path).is_file() else None
    changed = known_before != text.encode()
    if changed:
        apply(settings.root, {path: text})
    headings = sum(map(len, found.headings.values()))
    settings.show(
        {
            "revision": revision,
            "pages": len(found.headings),
            "headings": headings,
            "lines": len(found.lines),
            "changed": changed,
        },
        f"{revision}: {len(found.headings)} pages, {headings} headings, {len(found.lines)} lines of the schema\n"
        + (f"wrote {path}" if changed else "everything is there already"),
    )

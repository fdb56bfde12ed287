"""`revgen new`: take a revision into specs/, with an answer to every question."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import BinaryIO

import click

from ..differences.schemas import SchemaDifferences, schema_differences
from ..differences.words import schema_sections
from ..editing.addition import take_in
from ..editing.answers_file import RevisionAnswers, read_answers
from ..editing.importing import Declared, ImportRefused, prepare_import, require_source
from ..editing.inventory_files import declared_versions
from ..inventory.loading import load_inventory
from ..inventory.selection import load_selection
from ..reading.located import Place, Problem, Problems, SpecificationError
from ..schemas.published import load_schemas
from ..schemas.revisions import load_revisions
from ..specification.vocabulary import load_rules
from ..writing import files
from .diff import differences_text
from .import_schema import report_data, report_text
from .options import (
    Settings,
    found_by_lint,
    problem_data,
    require_revision,
    show_what_is_left,
    stop,
    takes_settings,
)


@click.command(name="new")
@click.argument("revision")
@click.option("--schema", required=True, type=click.File("rb"), help="Its published schema.")
@click.option("--like", help="Copy the answers of this revision, each marked for review.")
@click.option("--answers", type=click.File("rb"), help="Take its answers from this file.")
@click.option("--after", help="The revision that it follows, or none.  [default: its name decides, where it is a date]")
@click.option(
    "--draft/--final", default=None, help="Serve it only where it is named.  [default: where its name is no date]"
)
@click.option("--source", help="The address that the schema was published at.")
@takes_settings()
def command(
    settings: Settings,
    revision: str,
    schema: BinaryIO,
    like: str | None,
    answers: BinaryIO | None,
    after: str | None,
    draft: bool | None,
    source: str | None,
) -> None:
    """Take REVISION into specs/: import its schema, and answer every question of the inventory.

    What --answers does not have comes from --like, marked for review. Lint lists the marks; generate goes on, so that its diff can be
    read. Taking a mark away says that somebody has looked. What is found then, and how the schemas differ, is shown.

    It ends with 0 where generate can go on; with 3 where all is written and has faults, which are listed and to be answered first; with 1
    where it is refused, and nothing is written.

    \b
    Examples:
      revgen new 2003-03-03 --schema schema.json --like 2002-02-02
      revgen new 2003-03-03 --schema schema.json --answers 2003-03-03.yaml
    """
    if like is None and answers is None:
        raise click.UsageError("nothing to answer with; give --like REVISION, --answers FILE or both")
    for named in (like, after):
        if named is not None and (named, after) != ("none", "none"):
            require_revision(named, declared_versions(settings.root))
    path = answers.name if answers is not None else ""
    given = _read(path, answers.read()) if answers is not None else None
    declared = given.declared if given is not None else Declared()
    declared = dataclasses.replace(
        declared,
        after="" if after == "none" else after or declared.after,
        source=source or declared.source,
        draft=declared.draft if draft is None else draft,
    )
    _require_readable(settings.root, revision)
    try:
        prepared = prepare_import(settings.root, revision, schema.read(), declared, path=schema.name)
        require_source(prepared, declared)
    except ImportRefused as error:
        stop(settings, error.problems)
    versions = prepared.versions
    addition = take_in(settings.root, revision, versions, prepared.schema, answers=given, answers_path=path, like=like)
    texts = {**prepared.texts, **addition.texts}
    files.apply(settings.root, texts)
    place = versions.index(revision)
    beside = like or versions[place - 1 if place else place + 1]
    differences = _differences(settings.root, beside, revision)
    problems = found_by_lint(settings.root)
    data = {
        "import": report_data(prepared.report),
        "changed": sorted(texts),
        **{key: getattr(addition, key) for key in ("given", "copied", "present", "corrections")},
        "differences": dataclasses.asdict(differences) if differences is not None else None,
        "problems": [problem_data(problem) for problem in problems],
    }
    lines = [
        report_text(prepared.report),
        *(f"wrote {path}" for path in sorted(texts)),
        f"answers: {addition.given} given, {addition.copied} copied{f' from {like}' if like else ''}, "
        f"{addition.present} there already; corrections: {addition.corrections}",
    ]
    if differences is not None:
        lines += ["", f"From {beside} to {revision}:", differences_text(schema_sections(differences))]
    settings.show(data, "\n".join(lines))
    show_what_is_left(settings, problems)


def _require_readable(root: pathlib.Path, revision: str) -> None:
    """Refuse to add to inputs that are wrong without the revision, since nobody could tell what it lacks.

    Raises:
        SpecificationError: with everything that is wrong.
    """
    problems = Problems()
    others = [known for known in declared_versions(root) if known != revision]
    load_inventory(root, others, {}, problems)
    load_selection(root, problems)
    load_rules(root, problems)
    problems.stop_if_any()


def _read(path: str, content: bytes) -> RevisionAnswers:
    try:
        return read_answers(path, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = Place(path, content.count(b"\n", 0, error.start) + 1, 1)
        raise SpecificationError([Problem(place, f"byte {error.start + 1}: not UTF-8")]) from error


def _differences(root: pathlib.Path, old: str, new: str) -> SchemaDifferences | None:
    """How the corrected schemas differ; None where one of them cannot be used, which lint says."""
    problems = Problems()
    schemas = load_schemas(root, load_revisions(root, problems), problems)
    rules = load_rules(root, problems)
    if rules is None or not {old, new} <= schemas.keys():
        return None
    return schema_differences(schemas[old], schemas[new], rules)

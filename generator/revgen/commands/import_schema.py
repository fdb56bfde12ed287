"""`revgen import`: take a published schema into specs/."""

from __future__ import annotations

import dataclasses
from typing import BinaryIO

import click

from ..differences.schemas import schema_differences
from ..differences.words import schema_sections
from ..editing.importing import Declared, ImportRefused, ImportReport, Prepared, prepare_import, require_source
from ..reading.located import Problems
from ..specification.vocabulary import load_rules
from ..writing.files import apply
from .diff import differences_text
from .options import Settings, stop, takes_settings


@click.command(name="import")
@click.argument("revision")
@click.argument("file", type=click.File("rb"))
@click.option("--source", help="The address that the file was published at.")
@click.option("--after", help="The revision that it follows, or none.  [default: its name decides, where it is a date]")
@click.option(
    "--draft/--final", default=None, help="Serve it only where it is named.  [default: where its name is no date]"
)
@click.option("--check", "check_only", is_flag=True, help="Prove, and say what would be written, but write nothing.")
@takes_settings(may_be_new=True)
def command(
    settings: Settings,
    revision: str,
    file: BinaryIO,
    source: str | None,
    after: str | None,
    draft: bool | None,
    check_only: bool,
) -> None:
    """Bring the published schema of REVISION, in FILE, into normal form.

    It is written to specs/schemas/ together with its entry in specs/revisions.yaml, once the normal form is shown to give the same
    verdicts as the file, on valid and on broken instances; else nothing is written. Where it takes the place of another one, what
    changes is shown, and --source is to say where it comes from.

    \b
    Examples:
      revgen import 2001-01-01 schema.json
      revgen import 2001-01-01 schema.json --check
      revgen import 2001-01-01 - --source https://example.org/schema.json < schema.json
    """
    declared = Declared(source=source, after="" if after == "none" else after, draft=draft)
    try:
        prepared = prepare_import(settings.root, revision, file.read(), declared, path=file.name)
        changes = _changes(settings, prepared)
        if not check_only:
            if changes and source is None and not settings.as_json:
                click.echo(changes, err=True)
            require_source(prepared, declared)
            apply(settings.root, prepared.texts)
    except ImportRefused as error:
        stop(settings, error.problems)
    report = prepared.report
    verb = "would write" if check_only else "wrote"
    files = [f"{verb} {path}" for path in report.changed] or ["everything is there already"]
    settings.show(
        {**report_data(report), "changes": changes},
        "\n".join([report_text(report), *files, *([changes] if changes else [])]),
    )


def _changes(settings: Settings, prepared: Prepared) -> str:
    """What the schema says otherwise than the one whose place it takes; empty where it takes nobody's."""
    rules = load_rules(settings.root, Problems())
    if prepared.before is None or rules is None:
        return ""
    return differences_text(schema_sections(schema_differences(prepared.before, prepared.schema, rules)))


def report_data(report: ImportReport) -> dict[str, object]:
    """What an import did, as JSON has it."""
    return {**dataclasses.asdict(report), "steps": dict(report.steps)}


def report_text(report: ImportReport) -> str:
    """What an import did, but for the files."""
    steps = [f"  {step}: {count}" for step, count in report.steps.items()]
    proof = report.proof
    return "\n".join(
        [
            f"{report.revision}: {report.published} published definitions, {len(report.hoisted)} made from inline objects",
            *(["normalised:", *steps] if steps else []),
            f"proven on {proof.definitions} definitions: both forms take {proof.taken} instances and refuse {proof.refused}",
        ]
    )

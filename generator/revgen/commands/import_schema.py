"""`revgen import`: take a published schema into specs/."""

from __future__ import annotations

import dataclasses
from typing import BinaryIO

import click

from ..editing.importing import ImportRefused, ImportReport, import_schema
from .options import Settings, stop, takes_settings


@click.command(name="import")
@click.argument("revision")
@click.argument("file", type=click.File("rb"))
@click.option("--source", help="The address that the file was published at.")
@click.option("--check", "check_only", is_flag=True, help="Prove, and say what would be written, but write nothing.")
@takes_settings(may_be_new=True)
def command(settings: Settings, revision: str, file: BinaryIO, source: str | None, check_only: bool) -> None:
    """Bring the published schema of REVISION, in FILE, into normal form.

    It is written to specs/schemas/ together with its entry in specs/revisions.yaml, once the normal form is shown to give the same
    verdicts as the file, on valid and on broken instances; else nothing is written.

    \b
    Examples:
      revgen import 2001-01-01 schema.json
      revgen import 2001-01-01 schema.json --check
      revgen import 2001-01-01 - --source https://example.org/schema.json < schema.json
    """
    try:
        report = import_schema(settings.root, revision, file.read(), source=source, check_only=check_only)
    except ImportRefused as error:
        stop(settings, error.problems)
    verb = "would write" if check_only else "wrote"
    files = [f"{verb} {path}" for path in report.changed] or ["everything is there already"]
    settings.show(report_data(report), "\n".join([report_text(report), *files]))


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

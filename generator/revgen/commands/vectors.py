"""`revgen vectors`: what a revision says on the wire, as test vectors to look through."""

from __future__ import annotations

import click

from ..specification.loading import load_specification
from ..vectors.files import FOLDER
from ..vectors.scaffold import has_vectors, scaffold
from ..writing import files
from .options import Settings, require_revision, takes_settings


@click.command(name="vectors")
@click.argument("revision")
@click.option("--like", required=True, help="The revision whose vectors are gone through, with the new schema at hand.")
@takes_settings()
def command(settings: Settings, revision: str, like: str) -> None:
    """Scaffold the test vectors of REVISION under tests/vectors/, each file marked for review.

    A vector of --like goes in where the new schema says the same of it; where the schemas differ, valid and broken ones are made from the
    new schema. Other revisions get vectors that say what they lack. No test makes any of this again: look through it, correct it
    by the specification, and commit it.

    \b
    Examples:
      revgen vectors 2003-03-03 --like 2002-02-02
    """
    specification = load_specification(settings.root)
    for named in (revision, like):
        require_revision(named, specification.versions)
    if revision == like:
        raise click.UsageError("a revision is not like itself; name another one with --like")
    if has_vectors(specification, revision):
        raise click.UsageError(
            f"{FOLDER}/{revision} exists already, and what a person has looked at is not written again"
        )
    if not has_vectors(specification, like):
        raise click.UsageError(f"there are no vectors of {like} in {FOLDER}/{like}")
    made = scaffold(specification, revision, like)
    files.apply(settings.root, made.texts)
    data = {
        "written": made.vectors,
        "elsewhere": made.elsewhere,
        "to_write": list(made.to_write),
        "without_calls": list(made.without_calls),
        "unshown": list(made.unshown),
    }
    lines = [f"wrote {path}: {count}" for path, count in made.vectors.items()]
    lines += [f"added to {path}: {count}" for path, count in made.elsewhere.items()]
    if made.to_write:
        lines.append(
            f"answered otherwise than by {like}; what they give, and what is sent so, is to be written: {', '.join(made.to_write)}"
        )
    if made.without_calls:
        lines.append(f"without any calls to take over, which are to be written: {', '.join(made.without_calls)}")
    if made.unshown:
        lines.append(
            "came with it and are in no vector under encoding/; each is to be shown there, or by calls of the choice that"
            f" writes it: {', '.join(made.unshown)}"
        )
    settings.show(data, "\n".join(lines))
    if not settings.as_json:
        click.echo(f"{len(made.vectors) + sum(made.elsewhere.values())} to be reviewed; run: revgen lint", err=True)

"""`revgen accept`: look at what waits for a review, and take its mark away."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence

import click

from ..differences.schemas import SchemaDifferences, schema_differences
from ..documents.review import review
from ..editing.marks import CORRECTIONS, Marked, marked, taken_away
from ..reading.located import Problem
from ..specification.loading import Specification, load_specification
from ..vectors.files import FOLDER, MARK, read_file
from ..vectors.vector_file import unwritten
from ..writing import files
from .options import WORK_LEFT, Settings, counted, paint, problem_data, show_problems, takes_settings

_WIDTH = 120


@click.command(name="accept")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--revision", help="Only what belongs to this revision.")
@click.option("--all", "everything", is_flag=True, help="Everything that is marked, one after the other.")
@click.option("--yes", is_flag=True, help="Do not ask; for use without a terminal.")
@takes_settings()
def command(settings: Settings, names: tuple[str, ...], revision: str | None, everything: bool, yes: bool) -> None:
    """Show each NAME that is marked, with its sources and what its schema says otherwise, and take the mark away.

    NAME is a concern, whose answer and vectors are accepted together; `corrections`; or a file of vectors. Without any,
    what is marked is listed. The mark goes when the answer is yes. What is wrong is corrected in its file first, and what nobody has
    written yet is listed with its place: its mark stays.

    It ends with 3 where marks went and others stay for that; with 1 where none could go.

    \b
    Examples:
      revgen accept
      revgen accept error_codes batching
      revgen accept corrections tests/vectors/2003-03-03/errors.yaml
      revgen accept --all --revision 2003-03-03 --yes
    """
    waiting = [item for item in marked(settings.root) if revision in (None, item.revision)]
    if not names and not everything:
        listed = [{"name": item.name, "revision": item.revision, "review": item.why} for item in waiting]
        settings.show({"marked": listed}, "\n".join(f"{item.name}  {item.revision}  {item.why}" for item in waiting))
        return
    chosen = waiting if everything else _chosen(waiting, names)
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on; with --yes nothing is asked")
    specification = load_specification(settings.root)
    shown = _Shown(specification)
    accepted: list[Marked] = []
    lacking: list[Problem] = []
    for item in chosen:
        if problems := _unwritten(settings.root, item):
            lacking += problems
            continue
        if not settings.as_json:
            paint("\n".join(shown.lines(item)))
        answer = "y" if yes else click.prompt("Is it right? [y]es, [n]o, [q]uit", default="n", show_default=False)
        if answer.lower().startswith("q"):
            break
        if answer.lower().startswith("y"):
            accepted.append(item)
    texts = taken_away(settings.root, accepted)
    files.apply(settings.root, texts)
    left = len(waiting) - len(accepted)
    named = [{"name": item.name, "revision": item.revision} for item in accepted]
    data = {
        "accepted": named,
        "changed": sorted(texts),
        "left": left,
        "problems": [problem_data(problem) for problem in lacking],
    }
    settings.show(data, f"accepted {len(accepted)}; {left} still to be reviewed")
    if lacking:
        if not settings.as_json:
            click.echo(f"{counted(len(lacking), 'thing')} to be written before it can be accepted:", err=True)
            show_problems(lacking, to_error=True)
        sys.exit(WORK_LEFT if texts else 1)


def _unwritten(root: pathlib.Path, item: Marked) -> list[Problem]:
    """What nobody has written yet of the vectors that an item marks."""
    paths = sorted({path for path, _ in item.places if path.startswith(FOLDER)})
    return [problem for path in paths for problem in unwritten(root, path, item.name if item.area else "")]


def _chosen(waiting: Sequence[Marked], names: Sequence[str]) -> list[Marked]:
    """What was named, in the order in which it was.

    Raises:
        click.UsageError: nothing of that name is marked.
    """
    known = list(dict.fromkeys(item.name for item in waiting))
    if unknown := [name for name in names if name not in known]:
        marked_now = f"marked: {', '.join(known)}" if known else "nothing is"
        raise click.UsageError(f"'{unknown[0]}' is not marked for review; {marked_now}")
    return [item for name in dict.fromkeys(names) for item in waiting if item.name == name]


@dataclasses.dataclass(frozen=True)
class _Shown:
    """What a person sees of each mark."""

    specification: Specification
    changes: dict[tuple[str, str], SchemaDifferences] = dataclasses.field(default_factory=dict)

    def lines(self, item: Marked) -> Iterator[str]:
        """The name, why it is marked and where; then the answer, the correction or the vectors."""
        yield ""
        yield f"{click.style(item.name, bold=True)} of {item.revision}: {click.style(item.why, fg='yellow')}"
        yield f"  at {', '.join(f'{path}:{line + 1}' for path, line in item.places[:2])}"
        if item.area:
            yield from self._answer(item)
        elif item.name == CORRECTIONS:
            yield from self._correction(item)
        else:
            yield from self._vectors(item)

    def _answer(self, item: Marked) -> Iterator[str]:
        concerns = (concern for area in self.specification.areas for concern in area.concerns)
        concern = next(one for one in concerns if one.name == item.name)
        copied = re.search(r"copied from (\S+?)(?:;|$)", item.why)
        other = copied[1] if copied and copied[1] in concern.answers else ""
        found = review(self.specification, concern, item.revision, other, self._changes(other, item.revision))
        yield from textwrap.wrap(found.question, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        yield from (click.style(f"    {line}", fg="cyan") for line in found.answer)
        if found.before and found.before != found.answer:
            yield f"  {other} answers:"
            yield from (click.style(f"    {line}", fg="cyan") for line in found.before)
        for source, address in found.sources:
            yield click.style(f"  {source}  {address}".rstrip(), dim=True)
        if other:
            same = (f"what is cited is as in {other}",)
            yield from (f"  in the schema: {line}" for line in found.schema or same)
        path = f"{FOLDER}/{item.revision}/concerns/{item.area}.yaml"
        if entry := read_file(self.specification.root, path).get(concern.name):
            yield f"  vectors: {len(entry.get('calls', '1'))} in {path}"

    def _changes(self, old: str, new: str) -> SchemaDifferences | None:
        schemas = self.specification.schemas
        if old and (old, new) not in self.changes:
            self.changes[old, new] = schema_differences(schemas[old], schemas[new], self.specification.rules)
        return self.changes.get((old, new))

    def _correction(self, item: Marked) -> Iterator[str]:
        """The entry of the list that the mark belongs to, as it stands there."""
        path, mark = item.places[0]
        lines = (self.specification.root / path).read_text("utf-8").splitlines()
        starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("- ")]
        start = max(number for number in starts if number <= mark)
        end = min((number for number in starts if number > mark), default=len(lines))
        yield from (f"  {line}" for number, line in enumerate(lines[start:end], start) if number != mark)

    def _vectors(self, item: Marked) -> Iterator[str]:
        vectors = read_file(self.specification.root, item.name).get("vectors", [])
        own = [vector for vector in vectors if MARK in vector]
        yield from (f"    {vector['name']}: {click.style(vector[MARK], fg='yellow')}" for vector in own)
        if len(own) < len(item.places):
            good = sum(bool(vector.get("valid", "sent" in vector)) for vector in vectors)
            yield f"  {len(vectors)} vectors: {good} that are taken or sent, {len(vectors) - good} that are refused"

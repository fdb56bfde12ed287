"""The answers of one revision as a file of their own: what `remove` keeps of it and `new` takes in.

Rule: an answer stands here exactly as in its area, under the concern's name instead of the revision's, so that going out and coming
back changes no byte. A person may write such a file as well; then only `answers` is needed.
"""

from __future__ import annotations

import dataclasses
import pathlib

from ..documents.editor_schemas import editor_line
from ..inventory.answers_file import AnswersFile, Declaration
from ..reading.located import Problems, parse
from ..reading.models import read
from .importing import Declared
from .yaml_lines import Document, Entry, Piece

_FIRST = "none"


@dataclasses.dataclass(frozen=True)
class RevisionAnswers:
    """What one revision says.

    Attributes:
        declared: what is known of it besides its schema, and its entry among the revisions where it had one.
        corrections: those of its schema, each by the number (from 1) of its place in the list of all.
        answers: area → concern → the answer.
        pages: the text of the file that tells of its pages; empty where there is none.
        places: where each of these answers stands, by area and concern.
    """

    declared: Declared
    corrections: dict[int, Piece]
    answers: dict[str, dict[str, Piece]]
    pages: str = ""
    places: dict[tuple[str, str], Entry] = dataclasses.field(default_factory=dict, compare=False)

    def text(self, version: str, file: pathlib.Path, root: pathlib.Path) -> str:
        """What a file is to hold, for the revision with this name; `root` is the folder that has the schema of such files."""
        assert self.declared.entry is not None
        lines = [
            editor_line("answers", file.resolve().as_posix(), root.as_posix()),
            f"# The answers of {version}, as they were when it was taken out. They go in again with\n",
            f"# revgen new {version} --schema FILE --answers THIS_FILE\n",
            f"after: {_quoted(self.declared.after) if self.declared.after else _FIRST}\n",
            *self.declared.entry.lines("revision", 0),
        ]
        if self.pages:
            lines += [
                "pages: |\n",
                *(f"  {line}" if line.strip() else line for line in self.pages.splitlines(keepends=True)),
            ]
        if self.corrections:
            lines.append("corrections:          # each by its place in the list\n")
            for number, item in sorted(self.corrections.items()):
                lines += _as_value(item).lines(str(number), 2)
        lines.append("answers:\n")
        for area, answers in self.answers.items():
            lines.append(f"  {area}:\n")
            for concern, answer in answers.items():
                lines += answer.lines(concern, 4)
        return "".join(lines)


def read_answers(path: str, text: str) -> RevisionAnswers:
    """Read such a file.

    Args:
        path: how a complaint names it.
        text: what is in it.

    Raises:
        SpecificationError: it is no YAML, or has something else in it.
    """
    problems = Problems()
    file = read(AnswersFile, parse(text, path, problems), problems)
    problems.stop_if_any()
    assert file is not None
    document = Document(path, text)
    areas = {area: document.entries(node) for area, node in document.children(document.find("answers")).items()}
    corrections = document.entries(document.find("corrections"))
    return RevisionAnswers(
        declared=_declared(file, document),
        corrections={int(number): _as_item(entry.piece) for number, entry in corrections.items()},
        answers={area: {name: entry.piece for name, entry in entries.items()} for area, entries in areas.items()},
        pages=file.pages,
        places={(area, name): entry for area, entries in areas.items() for name, entry in entries.items()},
    )


def _declared(file: AnswersFile, document: Document) -> Declared:
    section = file.revision or Declaration()
    after = "" if file.after == _FIRST else file.after
    if section.source and section.sha256 and section.pages:
        return Declared(source=section.source, after=after, entry=document.entries(document.top)["revision"].piece)
    # Where a file tells where the pages are and of no reference, there is none.
    reference = section.reference or ("" if section.pages else None)
    return Declared(section.source, section.pages, reference, after, section.draft)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _as_value(item: Piece) -> Piece:
    """An item of a list as the value of a key."""
    if item.first.lstrip().startswith("{"):
        return dataclasses.replace(item, first=f":{item.first}")
    behind_dash = len(item.first) - len(item.first.lstrip(" ")) + 1
    return Piece(item.above, ":\n", (" " * behind_dash + item.first.lstrip(" "), *item.below))


def _as_item(value: Piece) -> Piece:
    """The reverse."""
    if value.first.strip() != ":":
        return dataclasses.replace(value, first=value.first.removeprefix(":"))
    first, *below = value.below
    return Piece(value.above, first[1:], tuple(below))

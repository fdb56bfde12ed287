"""YAML taken apart and put together by whole lines, so that an edit adds and removes lines and touches no other byte.

Rule: nothing here knows what a file means. An entry is a key of a mapping, or an item of a list, in block style: the lines from the
comment above it to the end of its value. An entry that shares a line with another one is a complaint.
"""

from __future__ import annotations

import dataclasses
import re

import yaml

from ..reading.located import Place, Problem, SpecificationError
from ..reading.yaml_text import compose

_MARK = "review"


@dataclasses.dataclass(frozen=True)
class Piece:
    """An entry without its key or dash, by itself.

    `above` are the blank and comment lines above it and `below` the lines after its first one, both indented relative to the entry; `first` is
    what follows the key or the dash on the entry's own line.
    """

    above: tuple[str, ...]
    first: str
    below: tuple[str, ...]

    def lines(self, key: str, indent: int) -> list[str]:
        """The entry with a key (or a dash), at an indentation."""
        margin = " " * indent
        return [
            *(_indented(line, margin) for line in self.above),
            f"{margin}{key}{self.first}",
            *(_indented(line, margin) for line in self.below),
        ]

    def marked(self, why: str) -> Piece:
        """The same with a mark that it waits for a review, and why. The value must be a mapping."""
        brace = re.match(r"(:?\s*\{)", self.first)
        if brace:
            return dataclasses.replace(self, first=f"{brace[1]}{_MARK}: {why}, {self.first[brace.end() :].lstrip(' ')}")
        if re.match(r"\s+[^\s#]", self.first):
            # An item of a list, whose first key, text, stands behind the dash; a line of its own is easily taken away again.
            width = len(self.first) - len(self.first.lstrip(" ")) + 1
            return dataclasses.replace(self, below=(f"{' ' * width}{_MARK}: {why}\n", *self.below))
        indent = next(len(line) - len(line.lstrip(" ")) for line in self.below if line.strip()[:1] not in ("", "#"))
        return dataclasses.replace(self, below=(f"{' ' * indent}{_MARK}: {why}\n", *self.below))


@dataclasses.dataclass(frozen=True)
class Entry:
    """Where an entry stands: `start` and `end` are lines from 0, the end exclusive; `own` is the line of its key or dash."""

    start: int
    own: int
    end: int
    indent: int
    piece: Piece


class Document:
    """One file: its lines, and the nodes that they hold.

    Args:
        path: the file, relative to the root, for complaints.
        text: what is in it.

    Raises:
        SpecificationError: it is no YAML.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.source = [line if line.endswith("\n") else f"{line}\n" for line in text.splitlines(keepends=True)]
        try:
            self.top = compose(text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line, mark.column) if mark else (0, 0)
            raise self.complaint(line, column, f"not YAML: {error.problem or error.context}") from error
        except yaml.YAMLError as error:
            raise self.complaint(0, 0, f"not YAML: {str(error).splitlines()[0]}") from error
        self._cuts: set[int] = set()
        self._added: dict[int, list[str]] = {}
        self._scalars: dict[int, list[tuple[int, int, str]]] = {}

    @property
    def text(self) -> str:
        """The file with everything cut and added."""
        lines: list[str] = []
        for number, line in enumerate([*self.source, ""]):
            lines += self._added.get(number, [])
            # From the end on, so that what stands before keeps its column.
            for start, end, written in sorted(self._scalars.get(number, ()), reverse=True):
                line = f"{line[:start]}{written}{line[end:]}"
            lines += [] if number in self._cuts else [line]
        return "".join(lines)

    def find(self, *keys: str) -> yaml.Node | None:
        """The node that a path of keys leads to; None where it leads nowhere."""
        node = self.top
        for key in keys:
            node = self.children(node).get(key)
        return node

    def children(self, node: yaml.Node | None) -> dict[str, yaml.Node]:
        """The values of a mapping by key; of anything else, none."""
        if not isinstance(node, yaml.MappingNode):
            return {}
        return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}

    def entries(self, node: yaml.Node | None) -> dict[str, Entry]:
        """The entries of a mapping by key, or of a list by number from 0; of anything else, none.

        Raises:
            SpecificationError: it is in flow style, so that its entries have no lines of their own.
        """
        if not isinstance(node, yaml.MappingNode | yaml.SequenceNode) or not node.value:
            return {}
        if node.flow_style:
            mark = node.start_mark
            raise self.complaint(mark.line, mark.column, "to be edited here, each entry needs a line of its own")
        found: dict[str, Entry] = {}
        # What stands above the first entry of a file is the head of the file; anywhere else it belongs to the entry.
        end = node.start_mark.line if node is self.top else self._comments_above(node.start_mark.line)
        pairs = node.value if isinstance(node, yaml.MappingNode) else [(None, item) for item in node.value]
        for key, value in pairs:
            entry = self._entry(key, value, end)
            end = entry.end
            found[key.value if key is not None else str(len(found))] = entry
        return found

    def cut(self, entry: Entry) -> None:
        """Take an entry out."""
        self._cuts.update(range(entry.start, entry.end))

    def add(self, line: int, lines: list[str]) -> None:
        """Put lines before the one with this number (from 0); what was added there before stands first."""
        self._added.setdefault(line, []).extend(lines)

    def replace_line(self, line: int, text: str) -> None:
        """Put another line in the place of one."""
        self._cuts.add(line)
        self.add(line, [text])

    def replace_scalar(self, node: yaml.Node, written: str) -> None:
        """Put another scalar, written as YAML, in the place of one.

        Raises:
            SpecificationError: the node is no scalar on one line.
        """
        line, column = node.start_mark.line, node.start_mark.column
        if not isinstance(node, yaml.ScalarNode) or node.end_mark.line != line:
            raise self.complaint(line, column, "to be edited here, the value needs to be text on one line")
        self._scalars.setdefault(line, []).append((column, node.end_mark.column, written))

    def cut_key(self, mapping: yaml.MappingNode, key: yaml.Node) -> None:
        """Take one key with its value out of a mapping that has others.

        Raises:
            SpecificationError: it stands so that no cut leaves all else as it is.
        """
        pairs = mapping.value
        place = next(number for number, (known, _) in enumerate(pairs) if known is key)
        start, end = key.start_mark, pairs[place][1].end_mark
        following = pairs[place + 1][0].start_mark if place + 1 < len(pairs) else None
        line = self.source[start.line]
        alone = not line[: start.column].strip()
        if alone and not mapping.flow_style:
            self._cuts.update(range(start.line, self._last_line(pairs[place][1]) + 1))
        elif following is not None and following.line == start.line == end.line:
            self.replace_line(start.line, line[: start.column] + line[following.column :])
        elif alone and following is not None and following.line == end.line + 1 == start.line + 1:
            self._cuts.add(start.line)
        elif following is None and place and start.line == end.line:
            before = re.sub(r",\s*$", "", line[: start.column])
            self.replace_line(start.line, before + line[end.column :])
        else:
            raise self.complaint(start.line, start.column, f"'{key.value}' shares its line; give it a line of its own")

    def touches(self, line: int) -> bool:
        """Whether a line was cut, or something was added before it."""
        return line in self._cuts or line in self._added

    def complaint(self, line: int, column: int, message: str) -> SpecificationError:
        """An error at a place of this file, counted from 0."""
        return SpecificationError([Problem(Place(self.path, line + 1, column + 1), message)])

    def _entry(self, key: yaml.Node | None, value: yaml.Node, above: int) -> Entry:
        """One entry; comments belong to it from the line `above` on."""
        if key is not None:
            own, indent, behind = key.start_mark.line, key.start_mark.column, key.end_mark.column
        else:
            own = value.start_mark.line
            indent = len(self.source[own]) - len(self.source[own].lstrip(" "))
            behind = indent + 1
        start = max(self._comments_above(own), above)
        end = self._last_line(value) + 1
        margin = " " * indent
        piece = Piece(
            above=tuple(line.removeprefix(margin) for line in self.source[start:own]),
            first=self.source[own][behind:],
            below=tuple(line.removeprefix(margin) for line in self.source[own + 1 : end]),
        )
        return Entry(start, own, end, indent, piece)

    def _comments_above(self, line: int) -> int:
        """The first of the blank and comment lines that stand directly above a line; that line itself where there are none."""
        while line > 0 and self.source[line - 1].strip()[:1] in ("", "#"):
            line -= 1
        return line

    def _last_line(self, node: yaml.Node) -> int:
        """The last line that a value stands in. A parser says of a block only where the next thing begins."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._last_line(last[1] if isinstance(last, tuple) else last)
        line: int = node.end_mark.line - (node.end_mark.column == 0 and node.end_mark.line > node.start_mark.line)
        while line > node.start_mark.line and not self.source[line].strip():
            line -= 1
        return line


def scalar(text: str) -> str:
    """A text as YAML, quoted where it would be read as something else without."""
    written: str = yaml.safe_dump(text, width=len(text) + 1_000, allow_unicode=True)
    return written.removesuffix("...\n").rstrip("\n")


def _indented(line: str, margin: str) -> str:
    return f"{margin}{line}" if line.strip() else line

"""YAML with a place for every node, and problems that are collected before anything stops.

Rule: nothing here knows what a file means. Scalars stay text (YAML would make a date of an unquoted revision), duplicate keys
are found here, since the parser lets the last one win in silence.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator
from typing import Literal

import yaml

from .yaml_text import compose


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """Where something stands: a path relative to the root, a line and a column (both from 1)."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


Degree = Literal["fault", "remark", "mark"]
"""A fault leaves open what is meant, so nothing can be made of the inputs. A remark does not: something is used by nothing. A mark was put
there for a person to look at what it stands beside."""


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    """One complaint: where, what was found and allowed, and how bad it is."""

    place: Place
    message: str
    degree: Degree = "fault"

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class SpecificationError(Exception):
    """The inputs cannot be used. `problems` holds all of them, ordered by place; at least one is a fault."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


class Problems:
    """Collects complaints, so that one run reports them all: faults in `found`, everything else in `remarks`."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.remarks: list[Problem] = []

    def add(self, place: Place, message: str) -> None:
        """Remember a fault; nothing is raised yet."""
        self.found.append(Problem(place, message))

    def remark(self, place: Place, message: str) -> None:
        """Remember a remark, which stops nothing."""
        self.remarks.append(Problem(place, message, "remark"))

    def mark(self, place: Place, message: str) -> None:
        """Remember a mark, which stops nothing either."""
        self.remarks.append(Problem(place, message, "mark"))

    def stop_if_any(self) -> None:
        """Raise `SpecificationError` with everything found and remarked so far, if there is a fault."""
        if self.found:
            raise SpecificationError([*self.found, *self.remarks])


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A scalar as written: its text, whether it was quoted, and where it starts."""

    text: str
    quoted: bool
    place: Place


@dataclasses.dataclass(frozen=True)
class Sequence:
    """A list of nodes."""

    items: tuple[Node, ...]
    place: Place

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)


@dataclasses.dataclass(frozen=True)
class Mapping:
    """Keys (in the order of the file) with their nodes; `keys` has the scalar that each key was written as."""

    entries: dict[str, Node]
    keys: dict[str, Scalar]
    place: Place

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __getitem__(self, key: str) -> Node:
        return self.entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self.entries

    def get(self, key: str) -> Node | None:
        """The node of a key, or None where the key is absent."""
        return self.entries.get(key)

    def place_of(self, key: str) -> Place:
        """Where the key itself stands."""
        return self.keys[key].place


Node = Scalar | Sequence | Mapping


def load(root: pathlib.Path, path: str, problems: Problems) -> Mapping | None:
    """Read one file whose top level is a mapping.

    Args:
        root: the folder that `path` is relative to.
        path: the file, relative to the root, with forward slashes.
        problems: receives syntax errors, duplicate keys and a wrong top level.

    Returns:
        The top mapping, or None when the file cannot be used at all.
    """
    try:
        text = (root / path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
        return None
    try:
        top = compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path, 1, 1)
        problems.add(place, f"not YAML: {error.problem or error.context}")
        return None
    except yaml.YAMLError as error:
        problems.add(Place(path, 1, 1), f"not YAML: {str(error).splitlines()[0]}")
        return None
    if top is None:
        return Mapping({}, {}, Place(path, 1, 1))
    node = _convert(top, path, problems)
    if not isinstance(node, Mapping):
        problems.add(node.place, f"the top level is a {kind(node)}; allowed: a mapping")
        return None
    return node


def kind(node: Node) -> str:
    """What a node is, as a person would say it."""
    return {Scalar: "text", Sequence: "list", Mapping: "mapping"}[type(node)]


def _convert(node: yaml.Node, path: str, problems: Problems) -> Node:
    place = Place(path, node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.ScalarNode):
        return Scalar(node.value, node.style in ("'", '"'), place)
    if isinstance(node, yaml.SequenceNode):
        return Sequence(tuple(_convert(item, path, problems) for item in node.value), place)
    assert isinstance(node, yaml.MappingNode)
    entries: dict[str, Node] = {}
    keys: dict[str, Scalar] = {}
    for key_node, value_node in node.value:
        key = _convert(key_node, path, problems)
        if not isinstance(key, Scalar):
            problems.add(key.place, f"a key is a {kind(key)}; allowed: text")
            continue
        if key.text in entries:
            first = keys[key.text].place
            problems.add(key.place, f"duplicate key '{key.text}'; first given at line {first.line}")
            continue
        entries[key.text] = _convert(value_node, path, problems)
        keys[key.text] = key
    return Mapping(entries, keys, place)

"""YAML with a place for every node, and problems that are collected before anything stops.

Rule: nothing here knows what a file means. Scalars stay text (YAML would make a date of an unquoted revision), duplicate keys
are found here, since the parser lets the last one win in silence.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable
from typing import Literal, TypeVar

import yaml

from .yaml_text import compose

LONGEST_SHOWN = 120


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
    """One complaint, in one line: where, what was found and allowed, and how bad it is."""

    place: Place
    message: str
    degree: Degree = "fault"

    def __post_init__(self) -> None:
        if "\n" in self.message:
            object.__setattr__(self, "message", self.message.replace("\n", "\\n"))

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


class Scalar(str):
    """A scalar as written: its text, whether it was quoted, where it starts, and the key that it stands under, if it does."""

    __slots__ = ("key", "place", "quoted")

    key: Scalar | None
    place: Place
    quoted: bool


class Sequence(list["Node"]):
    """A list of nodes, where it starts, and the key that it stands under, if it does."""

    __slots__ = ("key", "place")

    key: Scalar | None
    place: Place


class Mapping(dict[Scalar, "Node"]):
    """Keys in the order of the file with their nodes, where it starts, and the key that it stands under, if it does."""

    __slots__ = ("key", "place")

    key: Scalar | None
    place: Place


Node = Scalar | Sequence | Mapping


def standing_at(node: Node) -> Place:
    """Where a node begins for whoever looks for it: at its key, if it has one."""
    return node.place if node.key is None else node.key.place


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
    return parse(text, path, problems)


def parse(text: str, path: str, problems: Problems) -> Mapping | None:
    """Read a text whose top level is a mapping; as `load` does, of which `path` is what complaints name."""
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
        return _placed(Mapping(), Place(path, 1, 1), None)
    node = _convert(top, path, problems)
    if not isinstance(node, Mapping):
        problems.add(node.place, f"the top level is {found(node)}; allowed: a mapping")
        return None
    return node


def is_null(node: Node) -> bool:
    """Whether YAML has a word for nothing there, which is no text; where nothing is meant, specs say `none`, and texts are quoted."""
    return isinstance(node, Scalar) and not node.quoted and node in _NULLS


_NULLS = ("~", "null", "Null", "NULL")


def found(node: Node) -> str:
    """What was found, as it is to read in a complaint: the text itself, if need be its beginning, or what kind of node stands there."""
    if not isinstance(node, Scalar):
        return f"a {kind(node)}" if node else f"an empty {kind(node)}"
    if not node.strip():
        return "empty"
    return f'"{shown(node)}"' if node.quoted else f"'{shown(node)}'"


def shown(text: str) -> str:
    """A text as a complaint may hold it: on one line, and only the beginning of a long one."""
    printable = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text[:LONGEST_SHOWN])
    return printable if len(text) <= LONGEST_SHOWN else f"{printable}…"


def kind(node: Node) -> str:
    """What a node is, as a person would say it."""
    return {Scalar: "text", Sequence: "list", Mapping: "mapping"}[type(node)]


_N = TypeVar("_N", Scalar, Sequence, Mapping)


def _placed(node: _N, place: Place, key: Scalar | None) -> _N:
    node.place, node.key = place, key
    return node


def _convert(node: yaml.Node, path: str, problems: Problems, key: Scalar | None = None) -> Node:
    place = Place(path, node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.ScalarNode):
        scalar = _placed(Scalar(node.value), place, key)
        scalar.quoted = node.style in ("'", '"')
        return scalar
    if isinstance(node, yaml.SequenceNode):
        return _placed(Sequence(_convert(item, path, problems) for item in node.value), place, key)
    assert isinstance(node, yaml.MappingNode)
    mapping = _placed(Mapping(), place, key)
    for key_node, value_node in node.value:
        inner = _convert(key_node, path, problems)
        if not isinstance(inner, Scalar):
            problems.add(inner.place, f"a key is {found(inner)}; allowed: text")
        elif inner in mapping:
            first = standing_at(mapping[inner])
            problems.add(inner.place, f"duplicate key '{shown(inner)}'; first given at line {first.line}")
        else:
            mapping[inner] = _convert(value_node, path, problems, inner)
    return mapping

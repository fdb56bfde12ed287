"""Vector files as text: how `tests/vectors/` lays them out, and reading them back.

Rule: this knows how a file stands and neither what its vectors mean nor whether they hold. Scalars are JSON's.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ..reading.located import Place, Problem, SpecificationError

FOLDER = "tests/vectors"
MARK = "review"

_WIDTH = 128
_PLAIN = re.compile(r"[A-Za-z](?:[^:#\"\\\n]|:(?! ))*(?<![ :])")
_NO_TEXT = ("true", "false", "null")
# What is written as JSON; all else is text.
_VALUES = (
    "message",
    "result",
    "given",
    "sent",
    "call",
    "gives",
    "gives_at_least",
    "server",
    "is",
    "rows",
    "valid",
    "error",
)

Json = Any
Vector = dict[str, Any]


def vector_path(revision: str, kind: str) -> str:
    """The file of one revision's vectors of a kind (`results`, `encoding/params`, `concerns/asking`), relative to the root."""
    return f"{FOLDER}/{revision}/{kind}.yaml"


def read_file(root: pathlib.Path, path: str) -> dict[str, Any]:
    """What a file of vectors holds; nothing where there is no such file.

    Args:
        root: the folder that holds `tests/`.
        path: the file, relative to it.

    Raises:
        SpecificationError: it is no YAML, or no mapping.
    """
    file = root / path
    if not file.is_file():
        return {}
    try:
        found = yaml.load(file.read_text("utf-8"), _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path, 1, 1)
        raise SpecificationError([Problem(place, f"not YAML: {error.problem}")]) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SpecificationError([Problem(Place(path, 1, 1), f"cannot be read: {error}")]) from error
    if not isinstance(found, dict):
        raise SpecificationError([Problem(Place(path, 1, 1), "the top level is no mapping; allowed: a mapping")])
    return found


def text_renamed(text: str, old: str, new: str) -> str:
    """Vectors as text with one revision's name in the place of another's, where it stands by itself and is no part of something longer."""
    return re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w-]|\.\w)", new, text)


def list_text(head: Sequence[str], top: Mapping[str, Any], vectors: Sequence[Vector]) -> str:
    """A file that is a list of vectors.

    Args:
        head: the lines of the comment above all.
        top: the keys before `vectors`.
        vectors: each with its keys in the order in which they are to stand.
    """
    lines = [*(f"# {line}" for line in head), *(line for key in top for line in _entry(key, top[key], 0)), "vectors:"]
    return "\n".join(lines) + "\n" + "\n".join(vector_text(vector) for vector in vectors)


def vector_text(vector: Vector, indent: int = 2) -> str:
    """One vector, as an item of a list."""
    lines = [line for key, value in vector.items() for line in _entry(key, value, indent + 2)]
    return f"{' ' * indent}- {lines[0].lstrip()}\n" + "".join(f"{line}\n" for line in lines[1:])


def concern_text(concern: str, entry: Vector) -> str:
    """What a revision answers to one concern."""
    lines = [f"{concern}:"]
    for key, value in entry.items():
        if key == "calls" and value:
            lines += ["  calls:", "\n".join(vector_text(call, 4) for call in value).rstrip("\n")]
        else:
            lines += _entry(key, value, 2)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Json, indent: int) -> list[str]:
    margin = " " * indent
    if key in _VALUES and not (key == "call" and isinstance(value, str)):
        text = value if key == "error" and value is not None else _json(value, indent, indent + len(key) + 2)
    elif isinstance(value, str):
        text = _text(value)
    else:
        text = _json(value, indent, indent + len(key) + 2)
    return f"{margin}{key}: {text}".split("\n")


def _text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text not in _NO_TEXT else json.dumps(text, ensure_ascii=False)


def _json(value: Json, indent: int, column: int) -> str:
    """A value on one line where that fits, else its parts on lines of their own."""
    line = json.dumps(value, ensure_ascii=False)
    if column + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + 2
    if isinstance(value, list):
        parts = [" " * inner + _json(item, inner, inner) for item in value]
    else:
        names = [(json.dumps(name, ensure_ascii=False), item) for name, item in value.items()]
        parts = [f"{' ' * inner}{name}: {_json(item, inner, inner + len(name) + 2)}" for name, item in names]
    first, last = ("[", "]") if isinstance(value, list) else ("{", "}")
    return f"{first}\n" + ",\n".join(parts) + f"\n{' ' * indent}{last}"


def marks(root: pathlib.Path) -> Iterator[tuple[Place, str]]:
    """The marks in all files of vectors, each with its place and why it is there.

    Looking for lines is enough and quick: in JSON, a key stands in quotes.
    """
    folder = root / FOLDER
    for file in sorted(folder.rglob("*.yaml")) if folder.is_dir() else ():
        path = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), start=1):
            if match := mark_in(line):
                yield Place(path, number, match.start(1) + 1), match[2]


def mark_in(line: str) -> re.Match[str] | None:
    """The mark that a line of a file of vectors is; None for any other line."""
    return re.fullmatch(rf" *({MARK}): (.+?)\n?", line)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # PyYAML has one of the two
    """YAML whose scalars are JSON's."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012


def _json_scalar(loader: Any, node: Any) -> Any:
    return json.loads(node.value)


_Loader.add_implicit_resolver(
    "!json", re.compile(r"(?:null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)\Z"), list("ntf-0123456789")
)
_Loader.add_constructor("!json", _json_scalar)

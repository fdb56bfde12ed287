"""JSON with places: what is wrong with a text, and where in it a pointer leads.

Rule: nothing here knows what a text means. What JSON's own reader lets pass in silence (a key twice, a number that no double holds) is a
fault here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from .located import Place, Problems, shown

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+)')
_MOST_DIGITS = 300


class _Unfit(Exception):
    """A literal that is no number of JSON, or none that can be kept."""


def read_json(content: bytes, path: str, problems: Problems) -> Any:
    """What a text holds; None after complaints.

    Args:
        content: UTF-8.
        path: how complaints name it.
        problems: receives everything that is wrong.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(Place(path, line, 1), f"byte {error.start + 1}: not UTF-8")
        return None
    doubled = False

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        found = dict(members)
        doubled = doubled or len(found) < len(members)
        return found

    try:
        found = json.loads(
            text, object_pairs_hook=pairs, parse_int=_integer, parse_float=_number, parse_constant=_unfit
        )
    except json.JSONDecodeError as error:
        problems.add(Place(path, error.lineno, error.colno), f"not JSON: {error.msg}")
        return None
    except RecursionError:
        problems.add(Place(path, 1, 1), "this is nested too deep; allowed: what a person can read")
        return None
    except _Unfit as error:
        offset = next(at for _, at, literal in _values(text) if literal == str(error))
        problems.add(
            _place(text, path, offset), f"{shown(str(error))} is no number that can be kept; allowed: a finite one"
        )
        return None
    if doubled:
        _complain_about_doubles(text, path, problems)
        return None
    return found


def place_in(text: str, path: str, pointer: str) -> Place:
    """Where a JSON pointer leads in a text that is JSON; as far as it leads.

    Args:
        text: the document.
        path: how the place names it.
        pointer: as `schemas.pointers` has it; empty for the top.
    """
    keys = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    reached, offset = -1, 0
    for here, at, _ in _values(text):
        if len(here) > reached and here == keys[: len(here)]:
            reached, offset = len(here), at
    return _place(text, path, offset)


def _integer(literal: str) -> int:
    return int(literal) if len(literal) <= _MOST_DIGITS else _unfit(literal)


def _number(literal: str) -> float:
    number = float(literal)
    return number if math.isfinite(number) else _unfit(literal)


def _unfit(literal: str) -> Any:
    raise _Unfit(literal)


def _complain_about_doubles(text: str, path: str, problems: Problems) -> None:
    first: dict[tuple[str, ...], int] = {}
    for here, at, _ in _values(text):
        if first.setdefault(here, at) != at:
            line = _place(text, path, first[here]).line
            problems.add(_place(text, path, at), f"duplicate key '{shown(here[-1])}'; first given at line {line}")


def _values(text: str) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Every value of a text that is JSON: its keys, where it stands (at its own key, if it has one), and its first token."""
    holders: list[str] = []
    keys: list[str] = []
    before, start = "", 0
    for match in _TOKEN.finditer(text):
        token, at = match[1], match.start(1)
        if holders and holders[-1] == "{" and before in ("{", ",") and token != "}":
            keys[-1], start = json.loads(token), at
        elif token in ("}", "]"):
            holders.pop()
            keys.pop()
        elif token == "," and holders[-1] == "[":
            keys[-1] = str(int(keys[-1]) + 1)
        elif token not in (",", ":"):
            yield tuple(keys), start if holders and holders[-1] == "{" else at, token
            if token in ("{", "["):
                holders.append(token)
                keys.append("0")
        before = token


def _place(text: str, path: str, offset: int) -> Place:
    return Place(path, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))

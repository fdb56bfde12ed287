"""The inventory as tables: concerns down, revisions across, and what changed from one revision to the next.

Rule: here is what a table holds; how it looks is the business of whoever shows it.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import json

from ..reading.literals import Value
from .citations import Citation
from .concerns import Answer, Area, Concern


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of a cell, and whether the revision before has it otherwise or not at all; `gone` where only that one has it."""

    text: str
    changed: bool
    gone: bool = False


@dataclasses.dataclass(frozen=True)
class Cell:
    """What one revision answers, whether it differs from the revision before, and the sources."""

    version: str
    lines: tuple[Line, ...]
    changed: bool
    citations: tuple[Citation, ...]


@dataclasses.dataclass(frozen=True)
class Row:
    """One concern with a cell for every revision, oldest first."""

    concern: Concern
    cells: tuple[Cell, ...]


def rows(area: Area) -> tuple[Row, ...]:
    """An area's concerns, in the order of its file."""
    return tuple(Row(concern, tuple(_cells(concern))) for concern in area.concerns)


def shown(value: Value) -> str:
    """A value as the inventory writes it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    # What cannot be seen is quoted.
    return json.dumps(value) if isinstance(value, str) and not (value and value.isprintable()) else str(value)


def parts(concern: Concern, answer: Answer) -> dict[str, str]:
    """An answer as lines, each by what it is compared by: the key of a row, the name of a parameter, or nothing."""
    if concern.kind == "table":
        return {key: f"{key}: {shown(value)}" for key, value in answer.rows.items()}
    if concern.kind == "value":
        return {"": shown(answer.value)}
    arguments = {name: f"{name}: {shown(value)}" for name, value in answer.arguments.items()}
    return {"": answer.choice, **arguments}


def _cells(concern: Concern) -> collections.abc.Iterator[Cell]:
    before: dict[str, str] | None = None
    for version, answer in concern.answers.items():
        now = parts(concern, answer)
        old = now if before is None else before
        lines = [Line(text, old.get(key) != text) for key, text in now.items()]
        lines += [Line(text, True, gone=True) for key, text in old.items() if key not in now]
        yield Cell(version, tuple(lines), old != now, answer.citations)
        before = now

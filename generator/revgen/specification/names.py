"""The names of concerns, held against what stands beside them in an adapter.

Rule: a concern becomes an attribute or a method of a class, and hides there whatever has its name.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..inventory.concerns import Area
from ..reading.located import Problems
from ..templates.used_names import BUILTINS, Names


def check_names(areas: Iterable[Area], members: frozenset[str], names: Names, problems: Problems) -> None:
    """Complain about concerns that hide something.

    Args:
        areas: the inventory.
        members: what every adapter has without a concern.
        names: what the module of an adapter imports.
        problems: receives one complaint for each such concern, where it stands.
    """
    for concern in (concern for area in areas for concern in area.concerns):
        if concern.name in members:
            what = "an attribute that every adapter has"
        elif concern.name in names.imported:
            what = "a name that the module of an adapter imports"
        elif concern.name in BUILTINS:
            what = "a name of Python's own"
        else:
            continue
        problems.add(concern.place, f"'{concern.name}' is {what}; a concern needs another name")

"""JSON pointers (RFC 6901): the places within a schema.

Rule: a pointer is text without a leading `#`; `~` and `/` within a key are written `~0` and `~1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class LeadsNowhere(Exception):
    """A pointer that leads to nothing.

    Attributes:
        reached: the longest part of the pointer that leads somewhere; empty for the top.
        missing: the key that is not there.
        there: the keys that are; none where what was reached can have no keys.
        value: what was reached.
    """

    def __init__(self, reached: str, missing: str, there: tuple[str, ...], value: Any) -> None:
        super().__init__(f"'{reached or '/'}' has no '{missing}'")
        self.reached = reached
        self.missing = missing
        self.there = there
        self.value = value


def escaped(key: str) -> str:
    """A key as it stands in a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def keys(pointer: str) -> list[str]:
    """The keys that a pointer is made of."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def follow(document: Any, pointer: str) -> Any:
    """What a pointer leads to; the document itself for the empty one.

    Raises:
        LeadsNowhere: there is nothing.
    """
    here, reached = document, ""
    for key in keys(pointer):
        holder: Any = {}
        if isinstance(here, Mapping):
            holder = here
        elif isinstance(here, Sequence) and not isinstance(here, str):
            holder = {str(index): item for index, item in enumerate(here)}
        if key not in holder:
            raise LeadsNowhere(reached, key, tuple(holder), here)
        here, reached = holder[key], f"{reached}/{escaped(key)}"
    return here

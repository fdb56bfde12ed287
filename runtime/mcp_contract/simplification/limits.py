"""How large a schema may be, and what is raised where one cannot be dealt with.

Rule: measured before anything walks through a schema by recursion, and again on what comes out; sharing counts as often as it
is written out, and is measured once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mcp_contract.simplification.keywords import Schema, at, subschemas

MAX_DEPTH = 64
"""Objects and arrays inside each other; some thirty models inside each other."""

MAX_SUBSCHEMAS = 5_000

MAX_SIZE = 256 * 1024
"""Characters of JSON text, about."""


class NotSimplifiable(ValueError):
    """A schema has no simpler form that says the same.

    Args:
        pointer: JSON pointer to the place in the declared schema.
        reason: what stands there and why it has to stay, in words that go on from "because".
    """

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or '/'}: {reason}")
        self.pointer = pointer
        self.reason = reason


class Extent(NamedTuple):
    """How large a JSON value is.

    Attributes:
        size: characters of its text, about.
        depth: objects and arrays inside each other.
    """

    size: int
    depth: int


class Measure:
    """Measures values that share parts, each part once."""

    def __init__(self) -> None:
        # The value is kept beside its extent, so that no other value can get its id.
        self._known: dict[int, tuple[Any, Extent]] = {}

    def of(self, value: Any) -> Extent:
        """The extent of a JSON value. What lies deeper than is allowed is not looked at."""
        return self._of(value, 0)

    def check(self, value: Any, pointer: str) -> None:
        """See that a value stays within the limits.

        Raises:
            NotSimplifiable: it does not.
        """
        extent = self.of(value)
        if extent.depth > MAX_DEPTH:
            raise NotSimplifiable(pointer, f"it is nested more than {MAX_DEPTH} deep once it is written out")
        if extent.size > MAX_SIZE:
            raise NotSimplifiable(pointer, f"it is longer than {MAX_SIZE} characters once it is written out")

    def _of(self, value: Any, above: int) -> Extent:
        if not isinstance(value, dict | list):
            return Extent(len(value) + 4 if isinstance(value, str) else 6, 0)
        if above > MAX_DEPTH:
            return Extent(2, 1)
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        size, depth = 2, 0
        for item in value.values() if isinstance(value, dict) else value:
            inner = self._of(item, above + 1)
            size, depth = size + inner.size, max(depth, inner.depth)
        if isinstance(value, dict):
            size += sum(len(str(name)) + 6 for name in value)
        extent = Extent(size, depth + 1)
        if above + extent.depth <= MAX_DEPTH:
            self._known[id(value)] = (value, extent)
        return extent


def check_limits(schema: Schema) -> None:
    """See that a declared schema can be walked through.

    Raises:
        NotSimplifiable: it is too deep, too long, or has too many subschemas.
    """
    Measure().check(schema, "")
    waiting, count = [("", schema)], 0
    while waiting:
        pointer, node = waiting.pop()
        count += 1
        if count > MAX_SUBSCHEMAS:
            raise NotSimplifiable(pointer, f"there are more than {MAX_SUBSCHEMAS} schemas in it")
        if isinstance(node, dict):
            waiting += ((at(pointer, *steps), inner) for steps, inner in subschemas(node))

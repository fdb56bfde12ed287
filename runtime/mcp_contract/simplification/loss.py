"""What a simplification gives back: a schema, and what was lost on the way.

Rule: every change is a loss that names its place and its reason, so that it can be explained to whoever wrote the schema.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_contract.messages import JsonObject


@dataclass(frozen=True)
class Loss:
    """One change.

    Attributes:
        pointer: JSON pointer to what changed, in the declared schema. Where references were written out before, it is the way that
            a value takes: through the place of the reference, not through the definition.
        what: what changed, one clause.
        why: why that is right, one clause.
    """

    pointer: str
    what: str
    why: str


@dataclass(frozen=True)
class Simplified:
    """A simplified schema.

    Attributes:
        schema: the schema; the very object that was given where nothing had to change.
        losses: every change; always in the same order for the same schema.
    """

    schema: JsonObject
    losses: tuple[Loss, ...]

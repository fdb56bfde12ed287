"""References: how one definition of a schema names another.

Rule: in normal form every definition stands under `$defs`, and this is the one place that knows the prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEFINITIONS = "#/$defs/"


def reference(name: str) -> dict[str, Any]:
    """A node that refers to a definition."""
    return {"$ref": _DEFINITIONS + name}


def referred(node: Mapping[str, Any]) -> str | None:
    """The name of the definition that a node refers to; None for a node that is no reference."""
    target = node.get("$ref")
    return target.removeprefix(_DEFINITIONS) if isinstance(target, str) else None

"""Values of the canonical vocabulary, as handlers make them.

Rule: looked for only where somebody has imported the vocabulary, so that a server that does not use it does not load it.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from mcp_contract import JsonObject

CANONICAL = "mcp_revisions.canonical"


def canonical() -> types.ModuleType | None:
    """The vocabulary; None where nobody has made a value of it yet."""
    return sys.modules.get(CANONICAL)


def dumped(model: Any) -> JsonObject:
    """A canonical model as a JSON object, with the members that were given."""
    as_json: JsonObject = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return as_json

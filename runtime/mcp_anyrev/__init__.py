"""Write MCP handlers once; serve and call every published revision of the protocol, each in exactly its own wire form.

Rule: importing this package imports nothing else of it. A public name brings in what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.server.exchange import Exchange as Exchange
    from mcp_anyrev.server.failures import RegistrationError as RegistrationError
    from mcp_anyrev.server.failures import ToolError as ToolError
    from mcp_anyrev.server.questions import Answer as Answer
    from mcp_anyrev.server.questions import Question as Question
    from mcp_anyrev.server.questions import elicit as elicit
    from mcp_anyrev.server.registry import Registry as Registry
    from mcp_anyrev.settings import Limits as Limits
    from mcp_anyrev.settings import Settings as Settings
    from mcp_anyrev.transports.asgi import asgi as asgi

_HOMES = {
    "Answer": "mcp_anyrev.server.questions",
    "Exchange": "mcp_anyrev.server.exchange",
    "Limits": "mcp_anyrev.settings",
    "Question": "mcp_anyrev.server.questions",
    "RegistrationError": "mcp_anyrev.server.failures",
    "Registry": "mcp_anyrev.server.registry",
    "Settings": "mcp_anyrev.settings",
    "ToolError": "mcp_anyrev.server.failures",
    "asgi": "mcp_anyrev.transports.asgi",
    "elicit": "mcp_anyrev.server.questions",
}

__all__ = [
    "Answer",
    "Exchange",
    "Limits",
    "Question",
    "RegistrationError",
    "Registry",
    "Settings",
    "ToolError",
    "asgi",
    "elicit",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

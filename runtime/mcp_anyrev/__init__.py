"""Write MCP handlers once; serve and call every published revision of the protocol, each in exactly its own wire form.

Rule: importing this package imports nothing else of it. A public name brings in what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_contract import Forbidden as Forbidden
    from mcp_contract import ResourceNotFound as ResourceNotFound
    from mcp_contract import Unauthorized as Unauthorized

    from mcp_anyrev.server.around import Invocation as Invocation
    from mcp_anyrev.server.bearer import BearerVerifier as BearerVerifier
    from mcp_anyrev.server.changes import Change as Change
    from mcp_anyrev.server.dependencies import Depends as Depends
    from mcp_anyrev.server.dependencies import lifespan_value as lifespan_value
    from mcp_anyrev.server.elicitation import elicit as elicit
    from mcp_anyrev.server.exchange import Exchange as Exchange
    from mcp_anyrev.server.failures import RegistrationError as RegistrationError
    from mcp_anyrev.server.failures import ToolError as ToolError
    from mcp_anyrev.server.principals import Principal as Principal
    from mcp_anyrev.server.protected_resource import ProtectedResource as ProtectedResource
    from mcp_anyrev.server.questions import Answer as Answer
    from mcp_anyrev.server.questions import Question as Question
    from mcp_anyrev.server.registry import Registry as Registry
    from mcp_anyrev.server.roots import roots as roots
    from mcp_anyrev.server.sampling import sample as sample
    from mcp_anyrev.settings import Limits as Limits
    from mcp_anyrev.settings import Settings as Settings
    from mcp_anyrev.transports.asgi import asgi as asgi
    from mcp_anyrev.transports.http_sse import SseEndpoint as SseEndpoint

_HOMES = {
    "Answer": "mcp_anyrev.server.questions",
    "BearerVerifier": "mcp_anyrev.server.bearer",
    "Change": "mcp_anyrev.server.changes",
    "Depends": "mcp_anyrev.server.dependencies",
    "Exchange": "mcp_anyrev.server.exchange",
    "Forbidden": "mcp_contract",
    "Invocation": "mcp_anyrev.server.around",
    "Limits": "mcp_anyrev.settings",
    "Principal": "mcp_anyrev.server.principals",
    "ProtectedResource": "mcp_anyrev.server.protected_resource",
    "Question": "mcp_anyrev.server.questions",
    "RegistrationError": "mcp_anyrev.server.failures",
    "Registry": "mcp_anyrev.server.registry",
    "ResourceNotFound": "mcp_contract",
    "Settings": "mcp_anyrev.settings",
    "SseEndpoint": "mcp_anyrev.transports.http_sse",
    "ToolError": "mcp_anyrev.server.failures",
    "Unauthorized": "mcp_contract",
    "asgi": "mcp_anyrev.transports.asgi",
    "elicit": "mcp_anyrev.server.elicitation",
    "lifespan_value": "mcp_anyrev.server.dependencies",
    "roots": "mcp_anyrev.server.roots",
    "sample": "mcp_anyrev.server.sampling",
}

__all__ = [
    "Answer",
    "BearerVerifier",
    "Change",
    "Depends",
    "Exchange",
    "Forbidden",
    "Invocation",
    "Limits",
    "Principal",
    "ProtectedResource",
    "Question",
    "RegistrationError",
    "Registry",
    "ResourceNotFound",
    "Settings",
    "SseEndpoint",
    "ToolError",
    "Unauthorized",
    "asgi",
    "elicit",
    "lifespan_value",
    "roots",
    "sample",
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

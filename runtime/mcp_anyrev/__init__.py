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

    from mcp_anyrev.declaring.around import Invocation as Invocation
    from mcp_anyrev.declaring.changes import Change as Change
    from mcp_anyrev.declaring.dependencies import Depends as Depends
    from mcp_anyrev.declaring.dependencies import lifespan_value as lifespan_value
    from mcp_anyrev.declaring.registry import Registry as Registry
    from mcp_anyrev.errors import RegistrationError as RegistrationError
    from mcp_anyrev.errors import ToolError as ToolError
    from mcp_anyrev.exchange import Exchange as Exchange
    from mcp_anyrev.http.bearer import BearerVerifier as BearerVerifier
    from mcp_anyrev.http.protected_resource import ProtectedResource as ProtectedResource
    from mcp_anyrev.principal import Principal as Principal
    from mcp_anyrev.questions import Answer as Answer
    from mcp_anyrev.questions import Question as Question
    from mcp_anyrev.server.asking.elicitation import elicit as elicit
    from mcp_anyrev.server.asking.roots import roots as roots
    from mcp_anyrev.server.asking.sampling import sample as sample
    from mcp_anyrev.settings import Limits as Limits
    from mcp_anyrev.settings import Settings as Settings
    from mcp_anyrev.transports.asgi import asgi as asgi
    from mcp_anyrev.transports.http_sse import SseEndpoint as SseEndpoint

_HOMES = {
    "Answer": "mcp_anyrev.questions",
    "BearerVerifier": "mcp_anyrev.http.bearer",
    "Change": "mcp_anyrev.declaring.changes",
    "Depends": "mcp_anyrev.declaring.dependencies",
    "Exchange": "mcp_anyrev.exchange",
    "Forbidden": "mcp_contract",
    "Invocation": "mcp_anyrev.declaring.around",
    "Limits": "mcp_anyrev.settings",
    "Principal": "mcp_anyrev.principal",
    "ProtectedResource": "mcp_anyrev.http.protected_resource",
    "Question": "mcp_anyrev.questions",
    "RegistrationError": "mcp_anyrev.errors",
    "Registry": "mcp_anyrev.declaring.registry",
    "ResourceNotFound": "mcp_contract",
    "Settings": "mcp_anyrev.settings",
    "SseEndpoint": "mcp_anyrev.transports.http_sse",
    "ToolError": "mcp_anyrev.errors",
    "Unauthorized": "mcp_contract",
    "asgi": "mcp_anyrev.transports.asgi",
    "elicit": "mcp_anyrev.server.asking.elicitation",
    "lifespan_value": "mcp_anyrev.declaring.dependencies",
    "roots": "mcp_anyrev.server.asking.roots",
    "sample": "mcp_anyrev.server.asking.sampling",
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

"""How servers describe themselves, in every revision, for scripted ones."""

from __future__ import annotations

from typing import Any

from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default()
STATELESS = [one for one in ADAPTERS.versions if one not in ADAPTERS.handshake_versions]


def description(adapter: Adapter, *served: str, **capabilities: Any) -> dict[str, Any]:
    """How a server of a revision describes itself; it serves that one if no others are named, and offers everything if nothing is."""
    server = {"name": "scripted", "version": "1"}
    everything = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}
    described = adapter.description_result(server, capabilities or everything, None, served or [adapter.version])
    return adapter.encode_result(adapter.description_method, described, server)


def finished(adapter: Adapter, method: str, result: dict[str, Any]) -> dict[str, Any]:
    """A finished result of a revision."""
    return adapter.encode_result(method, result, {"name": "scripted", "version": "1"})

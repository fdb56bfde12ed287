"""The ways to reach a server, by what a client is given for one.

Rule: nothing is imported that is not needed to reach this one.
Specification: basic/transports
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mcp_anyrev.client.transport import Transport
    from mcp_anyrev.client.wire import OnWire
    from mcp_anyrev.settings import Limits

Target: TypeAlias = "str | Sequence[str] | Callable[[], Transport]"
"""A URL, a command as a text or as a list of its parts, or what makes a transport."""

_SCHEMES = ("http://", "https://")
_STDIO_OPTIONS = frozenset({"env", "cwd", "on_stderr"})


def ways_to(
    target: Target, limits: Limits, on_wire: OnWire | None = None, **options: Any
) -> Mapping[str, Callable[[], Transport]]:
    """The transports that may lead to a server, by name, in the order in which they are to be tried.

    Args:
        target: what the client was given.
        limits: how much may wait to be sent, and be received at once.
        on_wire: looks at what stands before messages, where there is anything; whoever asks for a transport sees to the messages.
        options: what belongs to the transport: for a command `env`, `cwd` and `on_stderr` of `StdioTransport`, for a URL what `HttpOptions` has.

    Raises:
        ValueError: the target is none, or an option is not one that works.
        TypeError: there is no such option.
    """
    if callable(target):
        return {"custom": target}
    if isinstance(target, str) and target.lower().startswith(_SCHEMES):
        return _over_http(target, limits, on_wire, **options)
    unknown = sorted(options.keys() - _STDIO_OPTIONS)
    if unknown:
        raise TypeError(f"a command has no option {', '.join(unknown)}; options: {', '.join(sorted(_STDIO_OPTIONS))}")
    command = shlex.split(target) if isinstance(target, str) else list(target)
    if not command:
        raise ValueError("there is neither a URL nor a command")
    return {"stdio": partial(_over_stdio, command, limits, **options)}


def _over_http(
    url: str, limits: Limits, on_wire: OnWire | None, **options: Any
) -> Mapping[str, Callable[[], Transport]]:
    from mcp_revisions import AdapterSet

    from mcp_anyrev.http.client.options import HttpOptions
    from mcp_anyrev.http.client.requester import address
    from mcp_anyrev.transports.aiohttp_client import http_sse, streamable_http

    address(url)
    spoken = HttpOptions(on_wire=on_wire, **options)
    first = AdapterSet.default().newest_with_handshake
    return {
        "http": partial(streamable_http, url, limits, spoken),
        "sse": partial(http_sse, url, first, limits, spoken),
    }


def _over_stdio(command: Sequence[str], limits: Limits, **options: Any) -> Transport:
    from mcp_anyrev.transports.stdio_client import StdioTransport

    return StdioTransport(command, limits, **options)

"""A proxy that puts a revision into every handshake, since the suite's client always asks for the same one.

Rule: nothing else is changed on the way; which revision the server then agreed to is noted.
"""

from __future__ import annotations

import contextlib
import json
import re
import urllib.parse
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})
AGREED = re.compile(rb'"protocolVersion"\s*:\s*"([^"]*)"')


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        url: where it listens.
        negotiated: the revisions that handshakes ended with.
    """

    url: str
    negotiated: set[str] = field(default_factory=set)


@contextlib.asynccontextmanager
async def pinned(url: str, revision: str) -> AsyncIterator[Proxy]:
    """A proxy before a server, for one revision."""
    parts = urllib.parse.urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}"
    proxy = Proxy("")

    async def forward(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        handshake = _handshake(body)
        if handshake is not None:
            handshake["params"]["protocolVersion"] = revision
            body = json.dumps(handshake).encode()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        async with http.request(request.method, server + request.path_qs, headers=headers, data=body or None) as came:
            kept = {name: value for name, value in came.headers.items() if name.lower() not in HOP_BY_HOP}
            answer = web.StreamResponse(status=came.status, headers=kept)
            await answer.prepare(request)
            with contextlib.suppress(ConnectionError):
                async for piece in came.content.iter_any():
                    if handshake is not None:
                        proxy.negotiated.update(found.decode() for found in AGREED.findall(piece))
                    await answer.write(piece)
                await answer.write_eof()
            return answer

    application = web.Application(client_max_size=2**24)
    application.router.add_route("*", "/{rest:.*}", forward)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False) as http:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        proxy.url = f"http://localhost:{runner.addresses[0][1]}{parts.path}"
        try:
            yield proxy
        finally:
            await runner.cleanup()


def _handshake(body: bytes) -> dict[str, dict[str, object]] | None:
    try:
        message = json.loads(body) if body else None
    except ValueError:
        return None
    if isinstance(message, dict) and message.get("method") == "initialize" and isinstance(message.get("params"), dict):
        return message
    return None

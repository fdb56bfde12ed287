"""A server alone on a port, for as long as a test, or a program, needs it.

Rule: on the loopback interface only, on a port that is free, unless it is told otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from ipaddress import ip_address
from socket import socket
from types import TracebackType
from typing import TYPE_CHECKING

from aiohttp import web

from mcp_anyrev.serving.event_loop import leave_alone_what_is_there, run_to_the_end
from mcp_anyrev.serving.server import Server
from mcp_anyrev.settings import LOOPBACK, Settings
from mcp_anyrev.transports.aiohttp import Request, answered
from mcp_anyrev.transports.departures import Departures
from mcp_anyrev.transports.signals import AskedToEnd

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.http.wire import Handle

log = logging.getLogger("mcp_anyrev.start")

_LAST_SECONDS = 2.25
"""How long a process may take to end beside what calls may take."""


class CannotListen(OSError):
    """Nothing can be served there: the port is taken, or must not be used, or the interface is none of this machine."""

    def __str__(self) -> str:
        return str(self.strerror)


# Servers that were awaited live as long as their event loop does.
_kept: weakref.WeakKeyDictionary[object, list[Serving]] = weakref.WeakKeyDictionary()


def serve(
    registry: Registry,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str | None = "/mcp",
    sse_path: str | None = None,
    message_path: str = "/messages",
    health_path: str | None = None,
    sockets: Sequence[socket] | None = None,
) -> Serving:
    """Serve a registry over Streamable HTTP, over HTTP+SSE, or both.

    `url = await serve(registry)` serves until the event loop ends; `async with serve(registry) as url:` until the block ends.

    Args:
        registry: what is offered.
        settings: how it is run.
        host: the interface to listen on.
        port: the port; 0 for any that is free.
        path: the path of the address that speaks Streamable HTTP; None for none.
        sse_path: the path of the address that opens a stream of HTTP+SSE; None for none.
        message_path: the path that clients of HTTP+SSE post to.
        health_path: the path of the address that tells how the server does; None for none.
        sockets: sockets that listen, in place of `host` and `port`.

    Returns:
        Something to await or to enter; either gives the URL, of Streamable HTTP if that is served. Both raise `CannotListen`, an
        OSError, where the port is taken.

    Raises:
        ValueError: there is nothing to serve, or a path is none or stands for two addresses.

    Specification: basic/transports/streamable-http
    """
    first = path or sse_path
    if first is None:
        raise ValueError("there is no path to serve anything at")
    server = Server(registry, settings)
    addresses = server.addresses(path, sse_path, message_path, health_path)
    told = {"Streamable HTTP": path, "HTTP+SSE": sse_path, "health": health_path}
    return Serving(server, addresses, {what: each for what, each in told.items() if each}, host, port, sockets)


def run(
    registry: Registry,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str | None = "/mcp",
    sse_path: str | None = None,
    message_path: str = "/messages",
    health_path: str | None = None,
    sockets: Sequence[socket] | None = None,
    told: Callable[[str], None] = print,
) -> None:
    """Serve a registry until the process is asked to end, by SIGINT or SIGTERM; for a script's last line.

    It ends in good order, within `Settings.shutdown_seconds` and 3 more, whatever handlers do; with a second SIGINT at once.

    Args:
        registry: what is offered.
        settings: how it is run.
        host: the interface to listen on.
        port: the port; 0 for any that is free.
        path: the path of the address that speaks Streamable HTTP; None for none.
        sse_path: the path of the address that opens a stream of HTTP+SSE; None for none.
        message_path: the path that clients of HTTP+SSE post to.
        health_path: the path of the address that tells how the server does; None for none.
        sockets: sockets that listen, in place of `host` and `port`; other processes may serve on them, too.
        told: gets the URL, once it can be used.

    Raises:
        CannotListen: the port is taken; it is an OSError.
        ValueError: there is nothing to serve, or a path is none or stands for two addresses.

    Specification: basic/transports/streamable-http
    """
    serving = serve(
        registry,
        settings,
        host=host,
        port=port,
        path=path,
        sse_path=sse_path,
        message_path=message_path,
        health_path=health_path,
        sockets=sockets,
    )
    with AskedToEnd(serving.settings.shutdown_seconds + _LAST_SECONDS) as asked:
        run_to_the_end(_until_asked_to_end(serving, told, asked))


async def _until_asked_to_end(serving: Serving, told: Callable[[str], None], asked: AskedToEnd) -> None:
    async with serving as url:
        leave_alone_what_is_there()
        told(url)
        await asked.wait()


class Serving:
    """A server that is to run alone on a port; made by `serve`.

    Args:
        server: the server.
        addresses: what answers requests, by path.
        paths: those of them that are to be told, by what they are for.
        host: the interface to listen on.
        port: the port; 0 for any that is free.
        sockets: sockets that listen, in place of both.
    """

    def __init__(
        self,
        server: Server,
        addresses: Mapping[str, Handle],
        paths: Mapping[str, str],
        host: str,
        port: int,
        sockets: Sequence[socket] | None,
    ) -> None:
        self._server = server
        self._addresses = addresses
        self._host = host
        self._port = port
        self._paths = paths
        self._sockets = sockets
        self._departures = Departures()
        self._runner: web.ServerRunner | None = None

    @property
    def settings(self) -> Settings:
        """How the server is run."""
        return self._server.settings

    def __await__(self) -> Generator[object, None, str]:
        return self._start_and_stay().__await__()

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> str:
        """Listen; gives the URL."""
        await self._server.start()
        # A table in place of an application: its router and hooks cost a tenth of a request, and nothing here needs them.
        self._runner = web.ServerRunner(
            web.Server(self._answer, access_log=None, auto_decompress=False), shutdown_timeout=0.5
        )
        await self._runner.setup()
        try:
            for site in self._sites(self._runner):
                await site.start()
        except OSError as error:
            await self.stop()
            raise CannotListen(
                error.errno, f"cannot listen on {self._host}:{self._port}: {error.strerror or error}"
            ) from None
        host, port = self._runner.addresses[0][:2]
        base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._tell(base, host)
        return base + next(iter(self._paths.values()))

    def _tell(self, base: str, host: str) -> None:
        """Say in the log where it can be reached, and by whom."""
        for what, path in self._paths.items():
            log.info("%s: %s%s", what, base, path)
        if self._server.settings.allowed_hosts == LOOPBACK and not ip_address(host.partition("%")[0]).is_loopback:
            log.warning(
                "other machines can connect, and are all refused: requests are answered for the hosts %s alone; add the name by which "
                "clients reach this one to Settings.allowed_hosts, or give it as --allow-host",
                ", ".join(LOOPBACK),
            )

    def _sites(self, runner: web.ServerRunner) -> Sequence[web.BaseSite]:
        if self._sockets is None:
            return [web.TCPSite(runner, self._host, self._port)]
        return [web.SockSite(runner, each) for each in self._sockets]

    async def stop(self) -> None:
        """End every stream in good order and every call, after `Settings.shutdown_seconds` at most, and stop listening."""
        for site in () if self._runner is None else self._runner.sites:
            await site.stop()
        await self._server.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        handle = self._addresses.get(request.path)
        if handle is None:
            return web.HTTPNotFound()
        return await answered(Request(request, self._server.bodies, self._server.answers, self._departures), handle)

    async def _start_and_stay(self) -> str:
        url = await self.start()
        _kept.setdefault(asyncio.get_running_loop(), []).append(self)
        return url

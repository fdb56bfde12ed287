"""A registry that is run: one server behind any number of addresses, on any framework.

Rule: whatever addresses it has, they share its sessions, its streams and its lifespans, which are entered once, when it starts. It can
be started again after it was closed.
Specification: basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mcp_contract import JsonObject

from mcp_anyrev import wire_log
from mcp_anyrev.http.endpoint import Endpoint
from mcp_anyrev.http.health import HealthAddress
from mcp_anyrev.http.http_sse import HttpSse
from mcp_anyrev.http.wire import Handle, Watched
from mcp_anyrev.server.core import Core
from mcp_anyrev.settings import Settings
from mcp_anyrev.transports.answers import Answers
from mcp_anyrev.transports.bodies import Bodies

if TYPE_CHECKING:
    from aiohttp import web
    from starlette.routing import BaseRoute

    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.serving.asgi import Application
    from mcp_anyrev.transports.memory import MemoryTransport

log = logging.getLogger("mcp_anyrev.server")


class Server:
    """A registry that is run; `async with Server(registry)` starts and closes it.

    Args:
        registry: what is offered.
        settings: how it is run.

    Specification: basic/transports/streamable-http
    """

    def __init__(self, registry: Registry, settings: Settings | None = None) -> None:
        self._core = Core(registry, settings or Settings())
        self._endpoint = Endpoint(self._core)
        self.bodies = Bodies(self._core.settings.limits)
        """Those that are arriving, at whichever address."""
        self.answers = Answers(self._core.unread)
        """Those that are going out, to whichever address."""
        self._starting: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.fresh = True
        """Has nobody started it yet?"""

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def registry(self) -> Registry:
        """What is offered."""
        return self._core.registry

    @property
    def settings(self) -> Settings:
        """How it is run."""
        return self._core.settings

    async def start(self, application: object = None) -> None:
        """Make everything ready, and enter the lifespans of the registry; nothing happens where that has been done.

        A server that nobody has started starts with its first request; one that was closed answers that it is, until it is started
        again.

        Args:
            application: left alone, so that aiohttp can call this: `application.on_startup.append(server.start)`.

        Raises:
            Exception: what a lifespan raised.
        """
        if self._core.running:
            return
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._core.start())
            self._starting.add_done_callback(self._has_started)
        await asyncio.shield(self._starting)

    async def start_for_request(self) -> None:
        """Start with the first request; one that comes while that fails is told that the server does not run."""
        try:
            await self.start()
        except Exception:
            log.exception("the server cannot start")

    async def close(self, application: object = None) -> None:
        """End every stream in good order and every call, after `Settings.shutdown_seconds` at most, and leave the lifespans.

        Args:
            application: left alone, so that aiohttp can call this: `application.on_shutdown.append(server.close)`.

        Raises:
            Exception: what a lifespan raised.
        """
        if self._closing is None:  # a signal and a framework may both say so; each waits until all is done
            self._closing = asyncio.ensure_future(self._core.close())
            self._closing.add_done_callback(self._has_closed)
        await asyncio.shield(self._closing)

    @asynccontextmanager
    async def lifespan(self, application: object = None) -> AsyncIterator[None]:
        """The server, started and closed: `Starlette(lifespan=server.lifespan)`, `FastAPI(lifespan=server.lifespan)`.

        Args:
            application: left alone.

        Raises:
            Exception: what a lifespan of the registry raised.
        """
        async with self:
            yield

    def asgi(
        self, *, sse_path: str | None = None, message_path: str = "/messages", health_path: str | None = None
    ) -> Application:
        """The server as an ASGI application, to be run alone or mounted.

        It answers Streamable HTTP on every path that reaches it, but for those of HTTP+SSE and of the health report, and for the
        well-known address of the protected resource, if there is one.

        Args:
            sse_path: the address that opens a stream of HTTP+SSE; None for none.
            message_path: the address that clients of HTTP+SSE post to.
            health_path: the address that tells how the server does, see `health`; None for none.

        Raises:
            ValueError: no revision that is served can be spoken over HTTP+SSE, or a path is none or stands for two addresses.
        """
        from mcp_anyrev.serving.asgi import Application

        return Application(
            self, self.addresses(None, sse_path, message_path, health_path), _watched(self._endpoint.handle)
        )

    def routes(
        self,
        path: str | None = "/mcp",
        *,
        sse_path: str | None = None,
        message_path: str = "/messages",
        health_path: str | None = None,
    ) -> list[web.RouteDef]:
        """The server as routes for aiohttp's `Application.add_routes`; see `start` and `close` for how it begins and ends.

        Args:
            path: the address that speaks Streamable HTTP; None for none.
            sse_path: the address that opens a stream of HTTP+SSE; None for none.
            message_path: the address that clients of HTTP+SSE post to.
            health_path: the address that tells how the server does, see `health`; None for none.

        Raises:
            ValueError: no revision that is served can be spoken over HTTP+SSE, or a path is none or stands for two addresses.
        """
        from mcp_anyrev.serving.aiohttp import routes

        return routes(self, self.addresses(path, sse_path, message_path, health_path))

    def starlette_routes(
        self,
        path: str | None = "/mcp",
        *,
        sse_path: str | None = None,
        message_path: str = "/messages",
        health_path: str | None = None,
    ) -> list[BaseRoute]:
        """The server as routes of Starlette or FastAPI; `lifespan` begins and ends it.

        Args:
            path: the address that speaks Streamable HTTP; None for none.
            sse_path: the address that opens a stream of HTTP+SSE; None for none.
            message_path: the address that clients of HTTP+SSE post to.
            health_path: the address that tells how the server does, see `health`; None for none.

        Raises:
            ImportError: Starlette is not installed.
            ValueError: no revision that is served can be spoken over HTTP+SSE, or a path is none or stands for two addresses.
        """
        from starlette.routing import Route

        from mcp_anyrev.serving.asgi import Application

        addresses = self.addresses(path, sse_path, message_path, health_path)
        return [Route(each, Application(self, {}, handle)) for each, handle in addresses.items()]

    def connect(self, principal: Principal | None = None) -> MemoryTransport:
        """A connection within this process: `Client(server.connect)` is a client of this server, once that has been started.

        Args:
            principal: who the client is; None for nobody in particular.

        Specification: basic/transports#custom-transports
        """
        from mcp_anyrev.transports.memory import MemoryTransport

        return MemoryTransport(self._core, principal)

    async def stdio(self, reads: int = 0, writes: int = 1, *, ending: Callable[[], object] | None = None) -> None:
        """Serve one client on two descriptors of files, until nothing comes any longer, or this is cancelled; then this server is closed.

        Args:
            reads: the descriptor that is read.
            writes: the descriptor that is written. Nothing else is to be written to it; see `mcp_anyrev.stdio`, which sees to that.
            ending: told once this begins to end; what goes on may still take its time then, and lifespans of the application any.

        Specification: basic/transports#stdio
        """
        from mcp_anyrev.server.pipe import Pipe
        from mcp_anyrev.transports.stdio import carried

        await self.start()
        pipe = Pipe(self._core)
        await pipe.open()

        async def finish() -> None:
            if ending is not None:
                ending()
            await self.close()

        await carried(pipe, reads, writes, self._core.settings.limits.line_bytes, finish)

    async def health(self) -> JsonObject:
        """How it does, as JSON: is it `running`, can it reach its `store` and its `hub`, and how much is going on.

        Where it cannot reach one, `faults` has the reason under its name, without credentials.
        `requests` are those that wait for something, `subscriptions` streams of changes that a request opened, and `sessions` those
        with a stream on this worker.
        """
        subscriptions, sessions = self._core.audience.sizes
        return {
            "running": self._core.running,
            **await self._core.shared.health(),
            "requests": self._core.in_flight.waiting,
            "subscriptions": subscriptions,
            "sessions": sessions,
            "revisions": list(self._core.adapters.versions),
        }

    def addresses(
        self, path: str | None, sse_path: str | None, message_path: str, health_path: str | None = None
    ) -> Mapping[str, Handle]:
        """What answers requests, by path; see `routes`."""
        _check_paths([each for each in (path, sse_path, sse_path and message_path, health_path) if each is not None])
        addresses: dict[str, Handle] = {}
        resource = self._core.settings.protected_resource
        if resource is not None:
            addresses |= dict.fromkeys(resource.paths, self._endpoint.front.metadata)
        if sse_path is not None:
            http_sse = HttpSse(self._core, message_path)
            addresses |= {sse_path: http_sse.listen, message_path: http_sse.post}
        if path is not None:
            addresses[path] = self._endpoint.handle
        if health_path is not None:
            addresses[health_path] = HealthAddress(self.health).handle
        return {path: _watched(handle) for path, handle in addresses.items()}

    def _has_started(self, starting: asyncio.Task[Any]) -> None:
        self._starting = None
        self.fresh = starting.cancelled() or starting.exception() is not None

    def _has_closed(self, closing: asyncio.Task[Any]) -> None:
        self._closing = None


def _watched(handle: Handle) -> Handle:
    return Watched(handle).handle if wire_log.is_wanted() else handle


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is no path of an address; it begins with /")
        if paths.count(path) > 1:
            raise ValueError(f"{path!r} stands for two addresses; give each its own")

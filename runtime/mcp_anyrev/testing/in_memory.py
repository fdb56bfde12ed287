"""Clients of a server in the same process: no socket, no port, no other process.

Rule: what a client and its server say to each other is what they say on a pipe, in the revision that is asked for, and nothing is left
out. The server starts with its lifespans, and both end where the block does.
Specification: basic/transports#custom-transports
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_revisions import AdapterSet

from mcp_anyrev.serving.client import Client
from mcp_anyrev.serving.server import Server
from mcp_anyrev.testing.replaying import ReplayingClient

if TYPE_CHECKING:
    from mcp_contract import JsonObject

    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.settings import Settings

Made = TypeVar("Made", bound=Client)


@asynccontextmanager
async def client(
    served: Registry | Server,
    revision: str | None = None,
    *,
    settings: Settings | None = None,
    principal: Principal | None = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """A client of a registry, in one revision: `async with testing.client(registry, "…") as client: …`

    Args:
        served: the registry; or a server that runs already, such as one that several clients share, and that goes on running.
        revision: the one revision to speak; None for what both agree on.
        settings: how the registry is run, such as those of the application that serves it.
        principal: who the client is; None for nobody in particular. Nothing recognises it: `Settings.principal` sees HTTP requests only.
        options: what `Client` takes besides, such as `on_ask`.

    Raises:
        ValueError: there is no such revision, or there are settings for a server that runs already.
        ClientError: the server does not serve the revision.
        Exception: what a lifespan of the registry raised.
    """
    async with _entered(Client, served, revision, settings, principal, options) as made:
        yield made


@asynccontextmanager
async def replaying_client(
    served: Registry | Server,
    revision: str | None = None,
    *,
    settings: Settings | None = None,
    principal: Principal | None = None,
    effects: Callable[[], Sequence[Any]] | None = None,
    same: Callable[[JsonObject, JsonObject], bool] | None = None,
    **options: Any,
) -> AsyncIterator[ReplayingClient]:
    """The same, as a client that sends again what it has sent, to show handlers that do not bear that; see `ReplayingClient`.

    Args:
        served: as above.
        revision: as above.
        settings: as above.
        principal: as above.
        effects: everything that the application has done so far.
        same: are two results the same?
        options: as above.

    Raises:
        Exception: as above.
    """
    made_by = partial(ReplayingClient, effects=effects, same=same)
    async with _entered(made_by, served, revision, settings, principal, options) as made:
        yield made


@asynccontextmanager
async def _entered(
    make: Callable[..., Made],
    served: Registry | Server,
    revision: str | None,
    settings: Settings | None,
    principal: Principal | None,
    options: dict[str, Any],
) -> AsyncIterator[Made]:
    adapter = None if revision is None else AdapterSet([revision]).newest
    async with AsyncExitStack() as stack:
        if not isinstance(served, Server):
            served = await stack.enter_async_context(Server(served, settings))
        elif settings is not None:
            raise ValueError("this server runs already; its settings are those that it was made with")
        made = make(partial(served.connect, principal), adapter, **options)
        await stack.enter_async_context(made)
        await made.initialize()
        yield made

"""A client's session with a server: from finding out what it speaks to the last request.

Rule: what was lost is made good once, and only where the server has said that nothing was done: a session that it does not know any
longer, or a connection that has ended while nothing was asked of it. What was set in the session is set again.
Specification: basic/transports#session-management, basic/transports/stdio#unexpected-termination
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import JsonObject, SessionUnknown
from mcp_revisions import AdapterSet

from mcp_anyrev.client.connection import Connection
from mcp_anyrev.client.errors import CannotConnect, ClientError, ErrorAnswer, HttpRefused, NoCommonRevision, NotOffered
from mcp_anyrev.client.listening import SUBSCRIBE, UNSUBSCRIBE
from mcp_anyrev.client.negotiation import Agreement, SpeaksHttpSse, agreed, agreed_on_newest
from mcp_anyrev.client.offers import missing_offer
from mcp_anyrev.client.rounds import Finished, finished

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.kept_results import KeptResults
    from mcp_anyrev.client.notices import OnProgress
    from mcp_anyrev.client.transport import Transport

log = logging.getLogger("mcp_anyrev.client")

SET_LEVEL = "logging/setLevel"
_PROBE_SECONDS = 5.0


class Verdict(NamedTuple):
    """What was found out about a server, to be handed in again.

    Attributes:
        revision: the revision that is spoken with it.
        transport: the name of the transport.
    """

    revision: str
    transport: str


class ClientSession:
    """A session.

    Args:
        transports: the ways to reach the server, by name, in the order in which they are tried.
        connect: makes a connection of a transport.
        adapters: the revisions that may be spoken.
        pinned: are only these to be tried, and not others found out?
        known: what was found out before.
        seconds: for how long an answer is waited for.
        rounds: how often the server may ask before it answers a request.
        kept: results that may be used again; None where none may.
        sends_all: is a server asked for what it does not say that it offers?

    Attributes:
        seconds: see above.
    """

    def __init__(
        self,
        transports: Mapping[str, Callable[[], Transport]],
        connect: Callable[[Transport], Connection],
        adapters: AdapterSet,
        *,
        pinned: bool,
        known: Verdict | None,
        seconds: float | None,
        rounds: int,
        kept: KeptResults | None,
        sends_all: bool,
    ) -> None:
        self._sends_all = sends_all
        self._kept = kept
        self._transports = transports
        self._connect = connect
        self._adapters = adapters
        self._pinned = pinned
        self._known = known
        self.seconds = seconds
        self._rounds = rounds
        self._connection: Connection | None = None
        self._agreement: Agreement | None = None
        self._level: str | None = None
        self._opening = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        self._subscribed: dict[str, None] = {}
        self._transport = ""

    @property
    def connection(self) -> Connection:
        """The connection.

        Raises:
            CannotConnect: there is none.
        """
        if self._connection is None:
            raise CannotConnect("there is no connection; enter the client first")
        return self._connection

    @property
    def agreement(self) -> Agreement:
        """What was agreed on.

        Raises:
            CannotConnect: nothing was yet.
        """
        if self._agreement is None:
            raise CannotConnect("nothing has been agreed on with the server yet; call initialize first")
        return self._agreement

    @property
    def verdict(self) -> Verdict:
        """What was found out about the server."""
        return Verdict(self.agreement.adapter.version, self._transport)

    async def open(self) -> Agreement:
        """Agree with the server, unless that has been done.

        Raises:
            ClientError: it cannot be reached, or there is nothing to agree on.
        """
        async with self._opening:
            if self._agreement is None or self._has_gone():
                await self.close()
                self._agreement = await self._open()
                await self._set_again()
            return self._agreement

    def offers(self, method: str) -> bool:
        """May a request be sent, after what the server has said that it offers?"""
        return self._sends_all or missing_offer(self.agreement, method) is None

    def leave(self, work: Coroutine[Any, Any, None]) -> None:
        """Say something to the server that nobody waits for; it is said before the session ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def left(self) -> None:
        """Return once everything has been said that nobody waits for."""
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def close(self) -> None:
        """End the session, in good order."""
        connection, self._connection, self._agreement = self._connection, None, None
        if connection is not None:
            await connection.close()

    async def request(
        self,
        method: str,
        params: JsonObject,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
        *,
        keeps: bool = False,
    ) -> JsonObject:
        """The result of a request; see `finish`."""
        return (await self.finish(method, params, seconds, on_progress, keeps=keeps)).result

    async def finish(
        self,
        method: str,
        params: JsonObject,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
        *,
        keeps: bool = False,
    ) -> Finished:
        """What becomes of a request; see `finished`. Where the server has lost the session, that is opened anew, once.

        Args:
            method: the method of the request.
            params: its params in canonical form.
            seconds: for how long an answer is waited for; None for what holds for all requests.
            on_progress: takes its progress.
            keeps: may a result be used that was kept, and may this one be kept?
        """
        agreement = await self.open()
        missing = None if self._sends_all else missing_offer(agreement, method)
        if missing is not None:
            raise NotOffered(f"the server does not offer {method}: its capabilities lack {missing}")
        kept = self._kept if keeps else None
        found = None if kept is None else kept.find(method, params)
        if found is not None:
            return Finished(found, asked=False)
        within = self.seconds if seconds is None else seconds
        try:
            done = await finished(self.connection, method, params, within, self._rounds, on_progress)
        except (ErrorAnswer, HttpRefused) as error:
            if not _lost_session(agreement.adapter, error):
                raise
            log.info("the server does not know the session any longer, so another one is opened: %s", error)
            await self._open_again(agreement)
            done = await finished(self.connection, method, params, within, self._rounds, on_progress)
        if kept is not None and not done.asked:
            kept.keep(method, params, done.result)
        self._note(method, params)
        return done

    async def _open(self) -> Agreement:
        first: Exception | None = None
        if self._known is not None and self._known.transport in self._transports:
            version = self._known.revision
            if version in self._adapters.versions:
                try:
                    return await self._try(self._known.transport, AdapterSet([version]), pinned=True)
                except (ErrorAnswer, HttpRefused, NoCommonRevision, SpeaksHttpSse) as error:
                    log.info("the server is not as it was, so it is found out anew what it speaks: %s", error)
        for name in self._transports:
            try:
                return await self._try(name, self._adapters, pinned=self._pinned)
            except SpeaksHttpSse as suggestion:
                first = first or (suggestion.__cause__ if isinstance(suggestion.__cause__, Exception) else suggestion)
            except ClientError as error:
                if first is None:
                    raise
                raise CannotConnect(f"{first}; and over {name}: {error}") from error
        assert first is not None  # there is a transport
        raise first

    async def _try(self, name: str, adapters: AdapterSet, *, pinned: bool) -> Agreement:
        """Agree over one transport."""
        connection = self._connect(self._transports[name]())
        if self._kept is not None:
            self._kept.clear()
            connection.heard.append(self._kept.heard)
        transport = connection.transport
        carried = [version for version, adapter in adapters.by_version.items() if transport.carries(adapter)]
        if not carried:
            raise NoCommonRevision(adapters.versions, ())
        try:
            await connection.open()
            probe = None if transport.has_headers else _PROBE_SECONDS
            if pinned:
                agreement = await agreed_on_newest(connection, AdapterSet(carried), self.seconds)
            else:
                agreement = await agreed(connection, AdapterSet(carried), self.seconds, probe)
        except BaseException:
            await connection.close()
            raise
        self._connection, self._transport = connection, name
        return agreement

    async def _open_again(self, lost: Agreement) -> None:
        """Open another session with the same server, unless that has been done meanwhile; in another revision where it is another one now."""
        async with self._opening:
            if self._agreement is not lost:
                return
            served = AdapterSet([lost.adapter.version])
            try:
                self._agreement = await agreed_on_newest(self.connection, served, self.seconds)
            except SpeaksHttpSse as suggestion:  # but it has spoken this transport, so that is no answer to try another
                assert suggestion.__cause__ is not None
                raise suggestion.__cause__ from None
            except NoCommonRevision as error:
                if self._pinned:
                    raise
                log.info("the server is not as it was, so it is found out anew what it speaks: %s", error)
                await self.close()
                self._agreement = await self._open()
            await self._set_again()

    async def _set_again(self) -> None:
        """Set in a new session what was set in the one before."""
        adapter = self.connection.adapter
        if self._level is not None and SET_LEVEL in adapter.client_requests:
            await self.connection.request(SET_LEVEL, {"level": self._level}, self.seconds)
        for uri in list(self._subscribed):
            await self.connection.request(SUBSCRIBE, {"uri": uri}, self.seconds)

    def _note(self, method: str, params: JsonObject) -> None:
        """Remember what was set in the session."""
        if method == SET_LEVEL:
            self._level = params["level"]
        elif method == SUBSCRIBE:
            self._subscribed[params["uri"]] = None
        elif method == UNSUBSCRIBE:
            self._subscribed.pop(params["uri"], None)

    def _has_gone(self) -> bool:
        """Has the connection ended, where another one is to be opened?"""
        transport = self.connection.transport
        return transport.failure is not None and transport.reopens(self.connection.adapter)


def _lost_session(adapter: Adapter, error: ErrorAnswer | HttpRefused) -> bool:
    return (
        adapter.has_handshake
        and error.status is not None
        and error.status == adapter.error_statuses[SessionUnknown.kind]
        and adapter.session_header is not None
    )

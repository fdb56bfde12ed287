"""Event streams as they come over HTTP, read event by event.

Rule: the reading is this file's own; nothing of the server's code takes part in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
from raw_client import RawClient
from sent_messages import check_sent

SOON = 10.0
"""Within which an event comes, also on a machine that has much else to do; nothing waits so long for one that does not."""


@dataclass
class Event:
    """One event, or a comment.

    Attributes:
        identifier: its id; None for none.
        retry: its `retry`; None for none.
        data: its data; None for an event that has no such field.
        comment: is it a comment?
    """

    identifier: str | None = None
    retry: int | None = None
    data: str | None = None
    comment: bool = False

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.data or "")
        return message


class EventStream:
    """A response that is a stream of events. Every message on it is held against the schema of the revision.

    Args:
        response: the response.
        version: the revision that is spoken.
        method: of the request that opened the stream; None for none.
    """

    def __init__(self, response: aiohttp.ClientResponse, version: str, method: str | None = None) -> None:
        self.response = response
        self._version = version
        self._method = method
        self.seen: list[Event] = []

    async def event(self, seconds: float = SOON) -> Event | None:
        """The next event or comment; None at the end of the stream."""
        event = Event()
        async with asyncio.timeout(seconds):
            while line := (await self.response.content.readline()).decode():
                name, _, value = line.rstrip("\n").partition(":")
                if line == "\n":
                    self.seen.append(event)
                    if event.data:
                        message = event.message
                        check_sent(self._version, message, self._method if "result" in message else None)
                    return event
                if name == "":
                    event.comment = True
                elif name == "data":
                    event.data = value.removeprefix(" ")
                elif name == "id":
                    event.identifier = value.removeprefix(" ")
                elif name == "retry":
                    event.retry = int(value)
        return None

    async def message(self, seconds: float = SOON) -> dict[str, Any] | None:
        """The next message; None at the end of the stream."""
        async with asyncio.timeout(seconds):
            while (event := await self.event(seconds)) is not None:
                if event.data:
                    return event.message
        return None

    async def messages(self, seconds: float = SOON) -> list[dict[str, Any]]:
        """All messages up to the end of the stream."""
        messages = []
        while (message := await self.message(seconds)) is not None:
            messages.append(message)
        return messages

    async def silent(self, seconds: float = 0.3) -> bool:
        """Does no message come for so long?"""
        try:
            return await self.message(seconds) is None
        except TimeoutError:
            return True


@contextlib.asynccontextmanager
async def listening(client: RawClient, last_event: str | None = None, **headers: str) -> AsyncIterator[EventStream]:
    """A stream opened by GET."""
    own = client.headers({"method": "ping", "params": {}})
    sent = {"Accept": "text/event-stream", **own, **client.extra, **headers}
    if last_event is not None:
        sent["Last-Event-ID"] = last_event
    async with client.http.get(client.url, headers=sent) as response:
        yield EventStream(response, client.adapter.version)


@contextlib.asynccontextmanager
async def posting(client: RawClient, method: str, params: dict[str, Any], **changes: Any) -> AsyncIterator[EventStream]:
    """A request whose answer is a stream; `changes` are made to the request."""
    message = {**client.request(method, params), **changes}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **client.headers(message),
        **client.extra,
    }
    async with client.http.post(client.url, data=json.dumps(message).encode(), headers=headers) as response:
        yield EventStream(response, client.adapter.version, method)

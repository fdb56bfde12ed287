"""Does to a server whatever it likes, many kinds of it at once, in a process of its own.

python tests/soak/attacker.py http://127.0.0.1:8000 60

Its last line says, as JSON, how often it did each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import random
import sys
import time
import urllib.parse
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "server"))

from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient

ADAPTERS = AdapterSet.default()
OLD = [adapter for adapter in ADAPTERS.by_version.values() if adapter.has_handshake]
LISTENING = [adapter for adapter in ADAPTERS.by_version.values() if adapter.listens]
LARGE = 3_900_000
HELD_SECONDS = 2.0
INFORMATION = {"name": "attacker", "version": "1"}


class Attacker:
    """One that means harm.

    Args:
        root: where the server is.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.url = f"{root}/mcp"
        self.done: Counter[str] = Counter()
        self._random = random.Random(7)
        parts = urllib.parse.urlsplit(root)
        self._host, self._port = parts.hostname or "", parts.port or 0

    async def handshakes(self) -> None:
        """Sessions over sessions, small and huge ones."""
        for adapter in OLD:
            size = self._random.choice((10, 10_000, 10_000, LARGE))
            said = Declaration({"experimental": {"x": {"y": "z" * size}}}, INFORMATION)
            async with self._client(adapter) as client:
                for _ in range(10 if size < LARGE else 1):
                    await client.call(adapter.description_method, adapter.description_params(said))

    async def slow_readers(self) -> None:
        """Calls that have a lot to say, of which nothing is read."""
        async with contextlib.AsyncExitStack() as stack:
            for adapter in ADAPTERS.by_version.values():
                client = await stack.enter_async_context(self._client(adapter))
                await client.call("logging/setLevel", {"level": "debug"})
                params = {"name": "say", "arguments": {"times": 1_000}, "_meta": {"progressToken": "t"}}
                await self._raw(stack, client, client.request("tools/call", params))
            await asyncio.sleep(HELD_SECONDS)

    async def half_open(self) -> None:
        """Connections on which something begins and does not end."""
        async with contextlib.AsyncExitStack() as stack:
            for begun in (
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n" + b"[" * 1_000_000,
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n" + b" " * 1_000,
                b"GET /sse HTTP/1.1\r\nHost: localhost\r\n",
                b"",
            ):
                for _ in range(4):
                    await self._connected(stack, begun)
            await asyncio.sleep(HELD_SECONDS)

    async def huge_bodies(self) -> None:
        """Bodies as large as they may be, and larger, of what is wrong a million times."""
        async with self._client(self._random.choice(list(ADAPTERS.by_version.values()))) as client:
            for arguments in (
                {"values": [{}] * 900_000},
                {"values": ["x"] * 700_000},
                {"values": [{"a": "b"}] * 300_000},
                {str(number): number for number in range(200_000)},
                {"values": "x" * LARGE},
                {"values": "x" * 2 * LARGE},
            ):
                await client.tool("items", arguments)

    async def deep_json(self) -> None:
        """Values in values in values."""
        async with self._client(OLD[0]) as client:
            for body in (
                b"[" * LARGE,
                b'{"a":' * 700_000,
                b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 150 + b"1" + b"}" * 151,
                b'{"jsonrpc":"2.0","id":' + b"9" * LARGE + b',"method":"ping"}',
            ):
                await client.post(body, unread=True)

    async def many_streams(self) -> None:
        """Streams that are held open, of sessions and of subscriptions."""
        async with contextlib.AsyncExitStack() as stack:
            for adapter in (*OLD, *LISTENING):
                client = await stack.enter_async_context(self._client(adapter))
                for _ in range(20):
                    if adapter.listens:
                        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["test://1"]}
                        message = client.request("subscriptions/listen", {"notifications": wanted})
                        await self._raw(stack, client, message)
                    else:
                        await self._raw(stack, client, None)
            await asyncio.sleep(HELD_SECONDS)

    async def subscriptions(self) -> None:
        """All addresses there are, and long ones."""
        for adapter in (*OLD, *LISTENING):
            async with self._client(adapter) as client:
                for number in range(30):
                    uri = f"test://{number}/{'x' * self._random.choice((1, 1_000, 50_000))}"
                    if adapter.listens:
                        wanted = {"resourceSubscriptions": [f"{uri}{n}" for n in range(40)] * 10}
                        with contextlib.suppress(TimeoutError):
                            async with asyncio.timeout(0.2):
                                await client.call("subscriptions/listen", {"notifications": wanted})
                    else:
                        await client.call("resources/subscribe", {"uri": uri})

    async def batches(self) -> None:
        """As many messages in a frame as may be, and more, good and bad ones."""
        for adapter in OLD:
            async with self._client(adapter) as client:
                ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                hangs = client.request("tools/call", {"name": "wait", "arguments": {}})
                for batch in ([ping] * 100, [ping, 5, {}] * 33, [ping] * 50_000, [[]] * 100):
                    await client.post(batch, unread=True)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await client.post([{**hangs, "id": number} for number in range(100)])
                await self._end(client)

    async def wrong_answers(self) -> None:
        """Answers to questions that nobody asked, and wrong ones to those that were."""
        for adapter in OLD:
            async with self._client(adapter) as client:
                for identifier in ("made-up", "x.y", 7, "x" * 5_000):
                    said = {"action": "accept", "content": {"x": "y" * 10_000}}
                    await client.post({"jsonrpc": "2.0", "id": identifier, "result": said}, unread=True)
                if not adapter.can_push_ask:
                    continue
                client.declaration = Declaration(adapter.required_to_ask("form"), INFORMATION)

                async def answer(message: dict[str, Any], client: RawClient = client) -> None:
                    for wrong in ({}, {"action": "maybe"}, {"action": "accept", "content": [1] * 10_000}):
                        await client.post({"jsonrpc": "2.0", "id": message["id"], "result": wrong}, unread=True)

                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await client.tool("gate", on_message=answer)
                await self._end(client)

    async def cancelled_calls(self) -> None:
        """Calls that are given up at once, by leaving and by saying so."""
        for adapter in ADAPTERS.by_version.values():
            async with self._client(adapter) as client:
                for _ in range(20):
                    call = client.request("tools/call", {"name": "wait", "arguments": {"padding": "x" * 20_000}})
                    calling = asyncio.ensure_future(client.post(call))
                    await asyncio.sleep(0.01)
                    if adapter.cancels_by_notification:
                        params = {"requestId": call["id"]}
                        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                    calling.cancel()
                    await asyncio.gather(calling, return_exceptions=True)
                await self._end(client)

    async def reconnect_storms(self) -> None:
        """Streams that are opened and closed again at once, to be taken up where they never were."""
        for adapter in OLD:
            async with self._client(adapter) as client:
                for number in range(30):
                    headers = {"Accept": "text/event-stream", **client.headers(None)}
                    if number % 2:
                        headers["Last-Event-ID"] = self._random.choice(("s-1.1", "x" * 300, "r.1-1", "\xe9"))
                    async with client.http.get(self.url, headers=headers):
                        pass
                    async with client.http.get(f"{self.root}/sse"):
                        pass

    async def http_sse_calls(self) -> None:
        """Connections of the older transport with calls that are left behind."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.root}/sse") as stream:
            line = b""
            while not line.startswith(b"data: "):
                line = await stream.content.readline()
            address = f"{self.root}{line.removeprefix(b'data: ').decode().strip()}"
            shake = OLD[0].description_params(Declaration({}, INFORMATION))
            await http.post(address, json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": shake})
            params = {"name": "wait", "arguments": {"padding": "x" * 500_000}}
            for number in range(60):
                call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                async with http.post(address, json=call):
                    pass

    @contextlib.asynccontextmanager
    async def _client(self, adapter: Adapter) -> Any:
        client = RawClient(self.url, adapter)
        client._check = lambda *_: None  # type: ignore[method-assign]  # what comes back is of no interest here
        client.declaration = Declaration({}, INFORMATION)
        try:
            yield await client.__aenter__()
        finally:
            await client.__aexit__()

    async def _end(self, client: RawClient) -> None:
        if client.adapter.ends_by_delete:
            async with client.http.delete(self.url, headers=client.headers(None)):
                pass

    async def _raw(self, stack: contextlib.AsyncExitStack, client: RawClient, message: Any) -> None:
        """A request on a connection of its own, whose answer nobody reads; GET without a message."""
        body = b"" if message is None else json.dumps(message).encode()
        fields = {"Host": f"{self._host}:{self._port}", "Accept": "text/event-stream, application/json"}
        fields |= {**client.headers(message), "Content-Length": str(len(body)), "Content-Type": "application/json"}
        head = "GET" if message is None else "POST"
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await self._connected(stack, f"{head} /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)

    async def _connected(self, stack: contextlib.AsyncExitStack, sent: bytes) -> None:
        _, writer = await asyncio.open_connection(self._host, self._port, limit=2**16)
        stack.callback(_abort, writer)  # which has to be kept: a connection whose writer is gone is closed
        writer.write(sent)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await writer.drain()


def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


KINDS: tuple[Callable[[Attacker], Awaitable[None]], ...] = (
    Attacker.handshakes,
    Attacker.slow_readers,
    Attacker.half_open,
    Attacker.huge_bodies,
    Attacker.deep_json,
    Attacker.many_streams,
    Attacker.subscriptions,
    Attacker.batches,
    Attacker.wrong_answers,
    Attacker.cancelled_calls,
    Attacker.reconnect_storms,
    Attacker.http_sse_calls,
)


async def attack(root: str, seconds: float) -> Counter[str]:
    """Do all of it for so long."""
    attacker, end = Attacker(root), time.monotonic() + seconds

    async def repeat(kind: Callable[[Attacker], Awaitable[None]]) -> None:
        name = kind.__name__
        while time.monotonic() < end:
            try:
                async with asyncio.timeout(30):
                    await kind(attacker)
            except (OSError, TimeoutError, aiohttp.ClientError, AssertionError, KeyError, ValueError):
                attacker.done[f"{name} refused"] += 1  # that is what a server is to do
                await asyncio.sleep(0.05)
            attacker.done[name] += 1

    await asyncio.gather(*map(repeat, KINDS))
    return attacker.done


if __name__ == "__main__":
    os.nice(5)  # it would have a machine of its own
    print(json.dumps(asyncio.run(attack(sys.argv[1], float(sys.argv[2])))), flush=True)

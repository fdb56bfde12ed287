"""A process on whose standard streams a test speaks, line by line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from bounds import starting
from mcp_contract import Declaration
from mcp_revisions.protocol import Adapter
from pydantic_core import from_json, to_json

BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""An environment in which Python prints as it does where nobody asks for anything else."""

SERVER = pathlib.Path(__file__).with_name("talking_server.py")
Message = dict[str, Any]


class Talk:
    """One process.

    Args:
        process: the process.
        adapter: the revision that is spoken.
    """

    def __init__(self, process: asyncio.subprocess.Process, adapter: Adapter) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.adapter = adapter
        self._stdin, self._stdout = process.stdin, process.stdout
        self._next = 100

    def write(self, line: bytes) -> None:
        """Write bytes as they are."""
        self._stdin.write(line)

    def send(self, **message: Any) -> None:
        """Send a message."""
        self.write(to_json({"jsonrpc": "2.0", **message}) + b"\n")

    def request(self, method: str, identifier: Any = None, **params: Any) -> Any:
        """Send a request that declares what can be; gives its id."""
        if identifier is None:
            self._next += 1
            identifier = self._next
        declared = self.adapter.declared_params(
            params, Declaration({"elicitation": {}}, {"name": "test", "version": "1"})
        )
        self.send(id=identifier, method=method, params=declared)
        return identifier

    def call(self, tool: str, identifier: Any = None, **arguments: Any) -> Any:
        """Send a call of a tool; gives its id."""
        return self.request("tools/call", identifier, name=tool, arguments=arguments)

    async def read(self) -> Message:
        """The next line, which is a message."""
        line = await self._stdout.readline()
        assert line.endswith(b"\n"), "the server has ended"
        message: Message = from_json(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def answer(self, identifier: Any) -> Message:
        """The response to a request; what comes before is left out."""
        while True:
            message = await self.read()
            if "method" not in message and message.get("id") == identifier and type(message["id"]) is type(identifier):
                return message

    async def text(self, identifier: Any) -> str:
        """The text of the result of a call."""
        return str((await self.answer(identifier))["result"]["content"][0]["text"])

    async def rest(self) -> list[Message]:
        """All that comes until the end."""
        return [from_json(line) for line in (await self._stdout.read()).splitlines()]

    def end(self) -> None:
        """Send nothing more."""
        self._stdin.close()

    def look_away(self) -> None:
        """Read nothing any longer; otherwise an event loop reads by itself what there is."""
        for stream in (1, 2):
            self._pipe(stream).pause_reading()

    async def ends(self, seconds: float) -> bool:
        """Does the process end in time? `wait` of a process waits for its streams as well, which nobody may read."""
        for _ in range(int(seconds / 0.05)):
            if self.process.returncode is not None:
                return True
            await asyncio.sleep(0.05)
        return False

    def look_again(self) -> None:
        """Read again, if there is anything to read from."""
        for stream in (1, 2):
            self._pipe(stream).resume_reading()

    def _pipe(self, stream: int) -> asyncio.ReadTransport:
        pipe: asyncio.ReadTransport = self.process._transport.get_pipe_transport(stream)  # type: ignore[attr-defined]
        return pipe

    async def handshake(self) -> None:
        """Agree on the revision, where that is to be done."""
        if self.adapter.has_handshake:
            declaration = Declaration({"elicitation": {}}, {"name": "test", "version": "1"})
            self.send(id=1, method=self.adapter.description_method, params=self.adapter.description_params(declaration))
            await self.answer(1)
            self.send(method=self.adapter.ready_notification)


@contextlib.asynccontextmanager
async def talking(adapter: Adapter, *, pings: bool = False) -> AsyncIterator[Talk]:
    """A server that has agreed on a revision, and was pinged before that; killed at the end, unless it has ended."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SERVER), stdin=pipe, stdout=pipe, stderr=pipe, limit=2**24, env=BUFFERED
    )
    talk = Talk(process, adapter)
    try:
        with starting():
            if pings:
                talk.send(id=0, method="ping")
                assert (await talk.answer(0))["result"] == {}
            await talk.handshake()
            await talk.text(talk.call("echo", text="ready"))
        yield talk
    finally:
        if process.returncode is None:
            process.kill()
        talk.look_again()
        await process.communicate()

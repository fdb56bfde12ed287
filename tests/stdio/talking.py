"""A process on whose standard streams a test speaks, line by line."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from bounds import starting
from mcp_contract import Declaration
from mcp_revisions.protocol import Adapter
from pydantic_core import from_json, to_json

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

    async def handshake(self) -> None:
        """Agree on the revision, where that is to be done."""
        if self.adapter.has_handshake:
            declaration = Declaration({"elicitation": {}}, {"name": "test", "version": "1"})
            self.send(id=1, method=self.adapter.description_method, params=self.adapter.description_params(declaration))
            await self.answer(1)
            self.send(method=self.adapter.ready_notification)


@contextlib.asynccontextmanager
async def talking(adapter: Adapter, *arguments: str) -> AsyncIterator[Talk]:
    """A server that has agreed on a revision; killed at the end, unless it has ended."""
    pipe = asyncio.subprocess.PIPE
    with starting():
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SERVER), *arguments, stdin=pipe, stdout=pipe, stderr=pipe, limit=2**24
        )
        talk = Talk(process, adapter)
        await talk.handshake()
        await talk.text(talk.call("echo", text="ready"))
    try:
        yield talk
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()

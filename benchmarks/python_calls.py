"""How many Python functions of this project a plain tool call passes through, by revision, and which.

Rule: counted, not timed, so the figure is the same on every machine. It is taken of the second of two equal calls of an ASGI application
in this process, after everything that is made once has been made. Generated code counts as well.

    python benchmarks/python_calls.py [--list]
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import pathlib
import sys
from types import FrameType
from typing import Any

from mcp_anyrev import Registry, asgi
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import from_json, to_json

ROOT = pathlib.Path(__file__).resolve().parents[1]
OWN = tuple(str(ROOT / name) for name in ("runtime", "generated"))
DECLARATION = Declaration({}, {"name": "benchmark", "version": "1.0"})


class Caller:
    """Calls an ASGI application without a server."""

    def __init__(self, application: Any, adapter: Adapter) -> None:
        self._application = application
        self._adapter = adapter
        self._session: str | None = None

    async def prepare(self) -> None:
        """Do what the revision wants before a call."""
        if self._adapter.has_handshake:
            headers, _ = await self.post(
                self._adapter.description_method, self._adapter.description_params(DECLARATION)
            )
            found = self._adapter.session_header
            self._session = None if found is None else headers[found.lower().encode()].decode()

    async def post(self, method: str, params: Any) -> tuple[dict[bytes, bytes], Any]:
        """Post a request; gives header fields and message of the response."""
        scope, body = self.request(method, params)
        return await self.sent(scope, body)

    def request(self, method: str, params: Any) -> tuple[dict[str, Any], bytes]:
        """A request, as ASGI has it."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        fields = {
            "host": "localhost",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            **self._adapter.request_headers(message, self._session),
        }
        headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
        return scope, to_json(message)

    async def sent(self, scope: dict[str, Any], body: bytes) -> tuple[dict[bytes, bytes], Any]:
        """Send a request; see `post`."""
        got: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: dict[str, Any]) -> None:
            got.append(message)

        await self._application(scope, receive, send)
        return dict(got[0]["headers"]), from_json(b"".join(message.get("body", b"") for message in got[1:]))


async def calls(adapter: Adapter) -> collections.Counter[str]:
    """Where and which function → how often it was entered for one plain call; a coroutine that goes on after a wait enters again."""
    registry = Registry("benchmark", "1.0")

    @registry.tool
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    caller = Caller(asgi(registry), adapter)
    await caller.prepare()
    params = adapter.declared_params({"name": "plain", "arguments": {"word": "hello"}}, DECLARATION)
    await caller.post("tools/call", params)
    scope, body = caller.request("tools/call", params)
    counted: collections.Counter[str] = collections.Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OWN):
            place = pathlib.Path(frame.f_code.co_filename).relative_to(ROOT)
            counted[f"{place}:{frame.f_code.co_firstlineno} {frame.f_code.co_qualname}"] += 1

    sys.setprofile(count)
    try:
        _, message = await caller.sent(scope, body)
    finally:
        sys.setprofile(None)
    assert message["result"]["content"] == [{"type": "text", "text": "fine"}], message
    return counted


def main(listed: bool = False) -> None:
    """Print the table."""
    print("Python calls of this project for one plain tools/call over ASGI; fewer than 60")
    for version, adapter in AdapterSet.default().by_version.items():
        counted = asyncio.run(calls(adapter))
        print(f"  {version:<12}{counted.total():>6}")
        for place, times in counted.items() if listed else ():
            print(f"    {times:>4}  {place}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--list", action="store_true")
    main(parser.parse_args().list)

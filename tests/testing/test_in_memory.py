"""Clients of a server in the same process.

Citations: basic/transports#custom-transports, server/tools#calling-tools.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_anyrev import ClientError, Exchange, Principal, Registry, Server, Settings, elicit, lifespan_value, testing
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel


class Name(BaseModel):
    name: str


def registry(entered: list[str] | None = None) -> Registry:
    entered = [] if entered is None else entered

    @asynccontextmanager
    async def lifespan(of: Registry) -> AsyncIterator[str]:
        entered.append("entered")
        yield "from the lifespan"
        entered.append("left")

    made = Registry("in memory", "1.0", lifespan=lifespan)

    @made.tool
    async def greet(ex: Exchange) -> str:
        answer = await ex.ask("name", elicit("Who?", Name))
        return f"hello {answer.data.name}" if answer.accepted else "hello"

    @made.tool
    def lived() -> str:
        return str(lifespan_value())

    @made.tool
    async def caller(ex: Exchange) -> str:
        return ex.principal.name if ex.principal else "nobody"

    return made


async def test_it_speaks_the_revision_that_it_is_given(adapter: Adapter) -> None:
    asked: list[str] = []

    def on_ask(question: Any) -> dict[str, str]:
        asked.append(question.message)
        return {"name": "Ada"}

    entered: list[str] = []
    async with testing.client(registry(entered), adapter.version, on_ask=on_ask) as client:
        assert client.revision == adapter.version
        assert entered == ["entered"]
        assert (await client.call_tool("greet")).text == "hello Ada"
        assert (await client.call_tool("lived")).text == "from the lifespan"
    assert asked == ["Who?"]
    assert entered == ["entered", "left"]


async def test_without_a_revision_it_agrees_on_the_newest() -> None:
    async with testing.client(registry()) as client:
        assert client.revision == AdapterSet.default().versions[0]


async def test_it_takes_settings_and_a_principal(adapter: Adapter) -> None:
    principal = Principal("ada")
    only = Settings(revisions=[adapter.version])
    async with testing.client(registry(), adapter.version, settings=only, principal=principal) as client:
        assert (await client.call_tool("caller")).text == "ada"
    for other in set(AdapterSet.default().versions) - {adapter.version}:
        with pytest.raises(ClientError):
            async with testing.client(registry(), other, settings=only):
                pass


async def test_several_clients_share_a_server_that_runs(adapter: Adapter) -> None:
    entered: list[str] = []
    async with Server(registry(entered)) as server:
        async with (
            testing.client(server, adapter.version) as one,
            testing.client(server, principal=Principal("b")) as other,
        ):
            assert (await one.call_tool("caller")).text == "nobody"
            assert (await other.call_tool("caller")).text == "b"
        with pytest.raises(ValueError, match="runs already"):
            async with testing.client(server, settings=Settings()):
                pass
        assert entered == ["entered"]


async def test_an_unknown_revision_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=f"unknown revision banana; known: .*{AdapterSet.default().versions[0]}"):
        async with testing.client(registry(), "banana"):
            pass


async def test_what_a_test_raises_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with testing.client(registry()) as client:
            await client.call_tool("lived")
            raise ZeroDivisionError


def test_it_opens_no_socket_and_importing_it_imports_no_web_framework() -> None:
    program = (
        "import asyncio, sys\n"
        "from mcp_anyrev import Registry, testing\n"
        "registry = Registry('r', '1')\n"
        "@registry.tool\n"
        "def plain() -> str: return 'fine'\n"
        "async def main():\n"
        "    async with testing.client(registry) as client:\n"
        "        print((await client.call_tool('plain')).text)\n"
        "sockets = []\n"
        "sys.addaudithook(lambda event, _: sockets.append(event) if event in ('socket.bind', 'socket.connect') else None)\n"
        "asyncio.run(main())\n"
        "assert not sockets, sockets\n"
        "assert 'aiohttp' not in sys.modules\n"
        "assert 'pytest' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr

"""A client that starts its server. Specification: basic/lifecycle#stdio, basic/transports/stdio#unexpected-termination"""

from __future__ import annotations

import asyncio
import os
import pathlib
import sys
import textwrap
from typing import Any

import pytest
from bounds import starting
from mcp_anyrev import CannotConnect, Client, NoAnswer
from mcp_anyrev.client.listening import Listening
from mcp_anyrev.settings import Limits
from mcp_anyrev.transports.stdio_client import INHERITED, StdioTransport
from mcp_revisions import AdapterSet
from talking import SERVER

NEWEST = AdapterSet.default().newest
COMMAND = [sys.executable, str(SERVER)]


async def test_it_finds_out_what_the_server_speaks_and_lets_it_go() -> None:
    lines: list[str] = []
    client = Client(COMMAND, on_stderr=lines.append)
    with starting():
        await client.initialize()
    async with client:
        assert client.revision == NEWEST.version
        assert (await client.call_tool("loud")).text == "said"
        transport: Any = client._session.connection.transport
        process = getattr(transport, "_transport", transport)._process
    assert process.returncode == 0
    assert {"printed before it serves", "printed", "through the descriptor", "from another process"} <= set(lines)


async def test_a_server_that_ended_is_started_again_where_the_revision_says_so() -> None:
    for adapter in (NEWEST, AdapterSet.default().newest_with_handshake):
        client = Client(COMMAND, adapter, on_stderr=lambda line: None)
        with starting():
            await client.initialize()
        async with client:
            transport: Any = client._session.connection.transport
            process = getattr(transport, "_transport", transport)._process
            listening = await asyncio.create_task(listens(client))
            process.kill()
            with pytest.raises(CannotConnect, match="exit code"):
                await client.call_tool("wait", {"seconds": 5})
            with starting():
                if adapter.stdio_restarts:
                    assert (await anext(aiter(listening))).of == "tools"
                else:
                    with pytest.raises(CannotConnect, match="exit code"):
                        await anext(aiter(listening))
                await listening.__aexit__(None, None, None)
                if adapter.stdio_restarts:
                    assert (await client.call_tool("echo", {"text": "again"})).text == "again"
                else:
                    with pytest.raises(CannotConnect):
                        await client.call_tool("echo", {"text": "again"})


async def listens(client: Client) -> Listening:
    return await client.listen("tools").__aenter__()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/no/such/program"], "/no/such/program cannot be started: /no/such/program: No such file"),
        (
            [sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"],
            "exit code 3; its last words: no luck",
        ),
        ([sys.executable, "-c", "pass"], "exit code 0"),
    ],
)
async def test_a_server_that_cannot_be_spoken_with_is_told_with_its_last_words(command: list[str], words: str) -> None:
    with starting(), pytest.raises(CannotConnect, match=words):
        await Client(command, NEWEST, on_stderr=lambda line: None).initialize()


class Ignoring:
    """Takes what comes, and does nothing with it."""

    async def take_frame(self, frame: bytes, answering: Any = None) -> None:
        return

    def waits(self, identifier: Any) -> bool:
        return False

    def fail(self, identifier: Any, error: Exception) -> None:
        return


def scripted(tmp_path: pathlib.Path, body: str) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(textwrap.dedent(body))
    return [sys.executable, "-u", str(path)]


async def test_a_server_that_does_not_go_is_made_to(tmp_path: pathlib.Path) -> None:
    """It ignores the end of its stdin and SIGTERM, and has started another process."""
    command = scripted(
        tmp_path,
        """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("not a message", child.pid, flush=True)
        time.sleep(60)
        """,
    )
    transport = StdioTransport(command, Limits(), on_stderr=lambda line: None)
    frames: asyncio.Queue[bytes] = asyncio.Queue()

    class Receiving(Ignoring):
        async def take_frame(self, frame: bytes, answering: Any = None) -> None:
            frames.put_nowait(frame)

    with starting():
        await transport.open(Receiving())
        child = int((await frames.get()).split()[-1])
    await transport.close()
    for _ in range(100):
        if not runs(child):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("what the server has started goes on")


def runs(process: int) -> bool:
    """Does a process run? One that has ended and that nobody has asked after does not."""
    try:
        os.kill(process, 0)
        return pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_closing_that_is_cancelled_leaves_no_process(tmp_path: pathlib.Path) -> None:
    transport = StdioTransport(scripted(tmp_path, "import time\ntime.sleep(60)\n"), Limits())
    with starting():
        await transport.open(Ignoring())
    process: Any = transport._process
    closing = asyncio.create_task(transport.close())
    await asyncio.sleep(0.1)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not runs(process.pid)


async def test_all_that_it_says_is_passed_on_whatever_becomes_of_it(tmp_path: pathlib.Path) -> None:
    """Also what it says last; and whoever is told may fail."""
    body = "import sys\nprint('first', file=sys.stderr)\nsys.stdin.read()\nprint('last', file=sys.stderr)\n"
    said: list[str] = []
    begun = asyncio.Event()

    def told(line: str) -> None:
        said.append(line)
        begun.set()
        raise RuntimeError("no")

    transport = StdioTransport(scripted(tmp_path, body), Limits(), on_stderr=told)
    with starting():
        await transport.open(Ignoring())
        await begun.wait()
    await transport.close()
    assert said == ["first", "last"]


async def test_a_line_that_is_too_long_ends_it(tmp_path: pathlib.Path) -> None:
    command = scripted(tmp_path, 'import sys\nsys.stdin.readline()\nprint("x" * 100_000)\nsys.stdin.read()\n')
    client = Client(command, NEWEST, limits=Limits(line_bytes=50_000), on_stderr=lambda line: None)
    with starting(), pytest.raises(CannotConnect, match="50000 bytes"):
        await client.initialize()
    await client.close()


async def test_a_server_that_says_nothing_is_given_up(tmp_path: pathlib.Path) -> None:
    command = scripted(tmp_path, "import sys\nsys.stdin.read()\n")
    async with Client(command, NEWEST, timeout_seconds=0.2, on_stderr=lambda line: None) as client:
        with pytest.raises(NoAnswer):
            await client.initialize()


def test_what_is_no_command_is_refused() -> None:
    for target in ("", [], "'"):
        with pytest.raises(ValueError):
            Client(target)
    with pytest.raises(TypeError, match="options: cwd, env, on_stderr"):
        Client(COMMAND, auth="token")


async def test_its_environment_and_folder_can_be_chosen(tmp_path: pathlib.Path) -> None:
    command = scripted(tmp_path, "import os, sys\nsys.exit(f\"{os.environ['PLACE']} {os.getcwd()}\")\n")
    with starting(), pytest.raises(CannotConnect, match=f"here {tmp_path}"):
        await Client(command, NEWEST, env={"PLACE": "here"}, cwd=tmp_path, on_stderr=lambda line: None).initialize()


async def test_it_inherits_what_programs_need_and_no_secret(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Specification: basic/authorization/security-best-practices#local-mcp-server-compromise"""
    monkeypatch.setenv("SHOP_TOKEN", "hush")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    command = scripted(tmp_path, "import os, sys\nsys.exit(' '.join(sorted(os.environ)))\n")
    with starting(), pytest.raises(CannotConnect) as reason:
        await Client(command, NEWEST, env={"PLACE": "here"}, on_stderr=lambda line: None).initialize()
    names = set(str(reason.value).rpartition("last words: ")[2].split())
    assert {"PATH", "HOME", "PLACE", "LC_ALL"} <= names
    assert {name for name in names if not name.startswith("LC_")} <= INHERITED | {"PLACE"}
    assert "SHOP_TOKEN" not in names and "PYTHONPATH" not in INHERITED

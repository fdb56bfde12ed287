"""`mcp-anyrev serve --workers`: several processes on one port, replaced when they die, ended together."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WHO = """
import os
from mcp_anyrev import Registry

registry = Registry("who", "1.0")


@registry.tool
def who() -> str:
    return str(os.getpid())
"""
BROKEN = """
from contextlib import asynccontextmanager
from mcp_anyrev import Registry


@asynccontextmanager
async def never(registry):
    raise OSError("nothing there")
    yield


registry = Registry("broken", "1.0", lifespan=never)
"""
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who", "arguments": {}}}


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "who.py"
    path.write_text(WHO)
    return path


@contextmanager
def serving(module: Path, *options: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    console = str(Path(sys.executable).with_name("mcp-anyrev"))
    command = [console, "serve", f"{module}:registry", "--port", "0", *options]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def who(url: str, session: str | None) -> int:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if session is not None:
        headers["mcp-session-id"] = session
    request = urllib.request.Request(url, json.dumps(CALL).encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return int(json.loads(answer.read())["result"]["content"][0]["text"])


def opened(url: str) -> str:
    params = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=5) as answer:
        answer.read()
        return str(answer.headers["mcp-session-id"])


def workers_of(process: int) -> set[int]:
    return {int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()}


def alive(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def until_gone(processes: set[int]) -> None:
    end = time.monotonic() + 30
    while any(alive(each) for each in processes):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_all_take_calls_of_one_session_and_who_dies_is_replaced(module: Path, valkey_url: str) -> None:
    with serving(module, "--workers", "3", "--store", valkey_url) as child:
        assert child.stdout is not None and child.stderr is not None
        url = child.stdout.readline().strip()
        session = opened(url)
        first, seen, end = workers_of(child.pid), set[int](), time.monotonic() + 30
        assert len(first) == 3
        while len(seen) < 2:
            seen.add(who(url, session))
            assert time.monotonic() < end and seen <= first, "each connection goes to one that is free"
        killed = next(iter(first))
        os.kill(killed, signal.SIGKILL)
        while len(workers_of(child.pid)) < 3 or killed in workers_of(child.pid):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert who(url, session) in workers_of(child.pid), "the session goes on"
        last = workers_of(child.pid)
        child.send_signal(signal.SIGTERM)
        rest, errors = child.communicate(timeout=30)
        assert child.returncode == 0 and rest == "" and "another takes its place" in errors
        until_gone(last)


def test_they_end_with_the_process_that_keeps_them(module: Path) -> None:
    with serving(module, "--workers", "2") as child:
        assert child.stdout is not None
        child.stdout.readline()
        workers = workers_of(child.pid)
        child.kill()
        until_gone(workers)
        assert child.stderr is not None and "without a --store that they share" in child.stderr.read()


def test_where_none_can_serve_the_command_ends(tmp_path: Path) -> None:
    module = tmp_path / "broken.py"
    module.write_text(BROKEN)
    with serving(module, "--workers", "2") as child:
        out, errors = child.communicate(timeout=30)
        assert child.returncode == 1 and out == "" and "no worker could begin to serve" in errors


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        (["--store", "nosuch://u:s3cret@host"], {}, "is not the scheme of a store"),
        ([], {"MCP_ANYREV_STORE": "redis://u:s3cret@host:port"}, "names no place"),
        ([], {"MCP_ANYREV_KEYS": "s3cret"}, "16 bytes"),
        (["--transport", "stdio", "--workers", "2"], {}, "--workers means nothing over stdio"),
    ],
    ids=range(4),
)
def test_what_cannot_be_shared_is_refused_without_its_credentials(
    module: Path, options: list[str], environment: dict[str, str], said: str
) -> None:
    with serving(module, *options, **environment) as child:
        out, errors = child.communicate(timeout=30)
        assert child.returncode == 2 and said in errors and "s3cret" not in out + errors

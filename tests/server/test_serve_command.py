"""`mcp-anyrev serve`: what it runs, and what it says where it cannot."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

import aiohttp
import pytest
from mcp_anyrev.cli.main import main
from mcp_revisions import AdapterSet
from raw_client import RawClient
from running import Ran, run_here

pytestmark = pytest.mark.long

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from mcp_anyrev.cli.main import main; main()"]

NEWEST = AdapterSet.default().versions[0]


Run = Callable[..., Ran]


@pytest.fixture
def run() -> Run:
    """Runs the command here, for what ends by itself."""
    return partial(run_here, main, "mcp-anyrev", folder=ROOT)


async def test_it_serves_the_example_until_it_is_interrupted() -> None:
    command = [*COMMAND, "serve", "examples/gates.py:registry", "--port", "0", "--path", "api"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: ASYNC220  # nothing else runs in this loop
    try:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert url.endswith("/api")
        adapters = AdapterSet.default()
        async with RawClient(url, adapters.by_version[adapters.versions[0]]) as client:
            assert (await client.tool("plain")).text == "fine"
    finally:
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 0
        assert child.stdout is not None
        child.stdout.close()


async def test_it_serves_old_clients_too() -> None:
    command = [*COMMAND, "serve", "examples/gates.py:registry", "--port", "0", "--transport", "sse"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: ASYNC220  # as above
    try:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert url.endswith("/sse")
        async with aiohttp.ClientSession() as http, http.get(url) as stream:
            assert await stream.content.readline() == b"event: endpoint\n"
    finally:
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 0
        assert child.stdout is not None
        child.stdout.close()


SHOP = """
import logging, sys
from mcp_anyrev import Limits, Registry, Server, Settings

registry = Registry("shop", "{version}")


@registry.tool
def price() -> str:
    logging.getLogger("shop").info("asked for a price")
    return sys.argv[0]


settings = Settings(revisions=["{newest}", "{oldest}"], limits=Limits(nesting=3))
server = Server(registry, settings)
"""


@contextlib.contextmanager
def serving(tmp_path: pathlib.Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command, in a process of its own; what it says of itself goes to a file."""
    versions = AdapterSet.default().versions
    (tmp_path / "shop.py").write_text(SHOP.format(version="2.1", newest=versions[0], oldest=versions[-1]))
    command = [sys.executable, "-m", "mcp_anyrev", "serve", *options, "--port", "0"]
    with (tmp_path / "stderr").open("w") as told:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told, text=True, cwd=tmp_path)
        try:
            yield child
        finally:
            child.send_signal(signal.SIGINT)
            assert child.wait(10) == 0
            assert child.stdout is not None
            child.stdout.close()


@pytest.mark.parametrize("target", [["shop:registry", "--settings", "shop:settings"], ["shop.py:server"]])
async def test_it_serves_both_transports_and_its_health_as_it_was_declared_and_says_so(
    tmp_path: pathlib.Path, target: list[str]
) -> None:
    over = ["--transport", "http", "--transport", "sse", "--health", "health", "-v", "--log-level", "info"]
    versions = AdapterSet.default().versions
    with serving(tmp_path, *target, *over) as child:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        base = url.removesuffix("/mcp")
        for version in (versions[0], versions[-1]):
            async with RawClient(url, AdapterSet.default().by_version[version]) as client:
                assert (await client.tool("price")).text
        async with aiohttp.ClientSession() as http:
            async with http.get(f"{base}/health") as answer:
                assert answer.status == 200 and (await answer.json())["revisions"] == [versions[0], versions[-1]]
            async with http.get(f"{base}/sse") as stream:
                assert await stream.content.readline() == b"event: endpoint\n"
    told = (tmp_path / "stderr").read_text()
    for line in ("shop 2.1: 1 tool", f"revisions: {versions[0]}, {versions[-1]}", f"HTTP+SSE: {base}/sse"):
        assert line in told.splitlines()
    assert f"health: {base}/health" in told and f"{versions[0]} tools/call price anonymous/127.0.0.1 ok" in told
    assert "info shop: asked for a price" in told


async def test_it_starts_again_at_the_same_address_whenever_the_application_changes(tmp_path: pathlib.Path) -> None:
    with serving(tmp_path, "shop.py:registry", "--reload") as child:
        assert child.stdout is not None
        url = child.stdout.readline()
        application = tmp_path / "shop.py"
        text = application.read_text()
        application.write_text("= no Python")
        await until(lambda: "SyntaxError" in (tmp_path / "stderr").read_text())
        application.write_text(text.replace('"2.1"', '"2.2"'))
        assert child.stdout.readline() == url  # nothing else runs in this loop
    told = (tmp_path / "stderr").read_text()
    assert f"watching {tmp_path}" in told and "shop 2.1" in told and "shop 2.2" in told


WITHOUT_UNIX = """
import os, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "uvloop"):
    sys.modules[name] = None
for name in ("fork", "getuid", "killpg", "setsid"):
    delattr(os, name)
from mcp_anyrev.cli.main import main
main()
"""


async def test_it_serves_where_what_only_unix_has_is_missing(tmp_path: pathlib.Path) -> None:
    """As on Windows, as far as another system can show it."""
    (tmp_path / "shop.py").write_text(SHOP.format(version="1", newest=NEWEST, oldest=NEWEST))
    command = [sys.executable, "-c", WITHOUT_UNIX, "serve", "shop.py:registry", "--port", "0"]
    refused = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True, cwd=tmp_path)  # noqa: ASYNC221  # as above
    assert refused.returncode == 2 and "this system cannot have several workers" in refused.stderr
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)  # noqa: ASYNC220  # as above
    try:
        assert child.stdout is not None
        adapter = AdapterSet.default().by_version[NEWEST]
        async with RawClient(child.stdout.readline().strip(), adapter) as client:
            assert (await client.call("tools/list")).status == 200
    finally:
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 0
        assert child.stdout is not None
        child.stdout.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # it is another process
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "examples/gates.py:registry", "--settings", "examples/gates.py:registry"], "Registry, not Settings"),
        (
            ["serve", "examples/gates.py:registry", "--settings", "settings"],
            "lacks a part; write a module or a .py file",
        ),
        (
            ["serve", "examples/gates.py:registry", "--sse-path", "/x"],
            "--sse-path means nothing without --transport sse",
        ),
        (["serve", "x:y", "--transport", "stdio", "--transport", "http"], "stdio is for one client alone"),
        (["serve", "x:y", "--transport", "stdio", "--health", "/x"], "--health means nothing over stdio"),
        (["serve", "x:y", "--reload", "--workers", "2"], "--reload is for one process"),
        (["serve", "no_such_module:y", "--reload"], "there is no module no_such_module"),
        (["serve", "examples/gates.py"], "lacks a part; write a module or a .py file, a colon, and a name"),
        (["serve", "examples/absent.py:registry"], "there is no file examples/absent.py"),
        (["serve", "no_such_module:registry"], "there is no module no_such_module"),
        (["serve", "examples/gates.py:absent"], "examples/gates.py has nothing named 'absent'"),
        (
            ["serve", "examples/gates.py:Nothing"],
            "'Nothing' in examples/gates.py is a ModelMetaclass, not a Registry or a Server",
        ),
        (["serve", "examples/gates.py:registry", "--revisions", "banana"], "banana; known: "),
        (
            ["serve", "examples/gates.py:registry", "--allow-host", "https://shop.example"],
            "'https://shop.example' is not `*`, `name` or `name:port`",
        ),
        (["serve", "examples/gates.py:registry", "--port", "x"], "'x' is not a valid integer"),
        (
            ["serve", "examples/gates.py:registry", "--transport", "sse", "--revisions", NEWEST],
            "none of these is served over sse",
        ),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_wrong_usage_is_said_on_stderr_with_exit_code_2(arguments: list[str], words: str, run: Run) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in " ".join(ran.stderr.split()).replace("│", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import json\nimport no_such_library\n",
            "broken.py:2: ModuleNotFoundError: No module named 'no_such_library'",
        ),
        ("from json import nothing\n", "broken.py:1: ImportError: cannot import name 'nothing' from 'json'"),
        ("import helper_of_broken\n", "helper_of_broken.py:3: KeyError: 'missing'"),
        ("x = 1\ny = = 2\n", "broken.py:2: SyntaxError: invalid syntax"),
        ("import sys\n\nsys.exit('not so')\n", "broken.py:3: SystemExit: not so"),
        ("from mcp_anyrev import Registry\nregistry = Registry('', '1')\n", "broken.py:2: "),
    ],
)
@pytest.mark.parametrize("target", ["{folder}/broken.py:registry", "broken:registry"])
def test_what_cannot_be_imported_is_named_with_the_line_that_is_to_blame(
    text: str, words: str, target: str, run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text(text)
    (tmp_path / "helper_of_broken.py").write_text("found = {}\n\nfound['missing']\n")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("broken", "helper_of_broken"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    ran = run("serve", target.format(folder=tmp_path))
    assert (ran.code, ran.stdout) == (2, "")
    said = "".join(ran.stderr.split()).replace("│", "")
    assert "".join(words.split()) in said and str(tmp_path) in said


def test_a_file_finds_the_modules_beside_it(run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "beside_it.py").write_text("raise LookupError('found')\n")
    (tmp_path / "whole.py").write_text("import beside_it\n")
    ran = run("serve", f"{tmp_path}/whole.py:registry")
    assert "beside_it.py:1: LookupError: found" in " ".join(ran.stderr.split()).replace("│", "")


def test_only_a_port_that_cannot_be_had_is_blamed_on_the_port(run: Run, tmp_path: pathlib.Path) -> None:
    declared = tmp_path / "failing.py"
    declared.write_text(
        "import contextlib\nfrom mcp_anyrev import Registry\n\n@contextlib.asynccontextmanager\n"
        "async def lifespan(registry):\n    raise OSError(5, 'the disk is gone')\n    yield\n\n"
        "registry = Registry('failing', '1', lifespan=lifespan)\n"
    )
    with pytest.raises(OSError, match="the disk is gone"):
        run("serve", f"{declared}:registry", "--port", "0")


def test_a_port_that_is_taken_is_a_failure(run: Run) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("serve", "examples/gates.py:registry", "--port", str(port))
    assert ran.code == 1 and f"cannot listen on 127.0.0.1:{port}" in ran.stderr


def test_the_help_has_examples_with_revisions_that_exist(run: Run) -> None:
    ran = run("serve", "--help")
    assert ran.code == 0 and "examples/gates.py:registry" in ran.stdout
    assert AdapterSet.default().versions[0] in ran.stdout

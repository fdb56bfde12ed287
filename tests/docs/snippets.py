"""Fenced blocks of a Markdown page, and what running them means.

Rule: a block is run, checked, or named in a table with the test that runs it. None is passed over.
"""

from __future__ import annotations

import ast
import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from mcp_anyrev.cli.main import main as mcp_anyrev_main
from mcp_revisions import AdapterSet
from revgen.main import main as revgen_main
from running import TERMINAL, run_here

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.executable).parent
COMMAND_SECONDS = 60
ADDRESS = "http://127.0.0.1:8000/mcp"
"""Where a server is that was started as a page says."""

_NAMED = set(re.findall(r"20\d\d-\d\d-\d\d", (ROOT / "docs/what-each-revision-gets.md").read_text("utf-8")))

of_these_revisions = pytest.mark.skipif(
    set(AdapterSet.default().versions) != _NAMED,
    reason="docs/what-each-revision-gets.md names other revisions than there are, so the pages show what was before",
)

_FENCE = re.compile(r"^ *(```+)([^\n`]*)\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the page, from the root of the project.
        line: the line on which its text begins.
        language: what stands after the fence.
        text: what is in it.
    """

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: pathlib.Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text("utf-8")
    name = page.relative_to(ROOT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start(3)) + 1, found[2].strip(), found[3])
        for found in _FENCE.finditer(text)
    ]


async def run_python(page_blocks: list[Block]) -> None:
    """Run the Python of a page from top to bottom, as one module that may await."""
    module = types.ModuleType("snippet_page")
    sys.modules[module.__name__] = module  # annotations are looked up in the module of a function
    try:
        for block in page_blocks:
            source = "\n" * (block.line - 1) + block.text
            code = compile(source, block.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            given = eval(code, module.__dict__)
            if given is not None:
                await given
    finally:
        del sys.modules[module.__name__]


@dataclass(frozen=True)
class Command:
    """A command of a console block, and what the page says that it prints.

    Attributes:
        line: the command.
        output: the lines; `…` stands for any number of them.
    """

    line: str
    output: list[str]


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:].split("  #")[0].strip(), []))
        elif found:
            found[-1].output.append(line)
        else:
            raise AssertionError(f"{block}: a console block begins with a command")
    return found


def files_of(page_blocks: list[Block]) -> dict[str, str]:
    """The files that a page has its reader write: blocks that begin with a comment that names one."""
    found = {block: re.match(r"# (\w+\.py)\n", block.text) for block in page_blocks if block.language == "python"}
    return {match[1]: block.text for block, match in found.items() if match is not None}


def run_command(command: Command, folder: pathlib.Path = ROOT) -> None:
    """Run a command, or check what would be too much to run.

    Args:
        command: the command.
        folder: where it is run.

    Raises:
        AssertionError: it does not do what the page says, or nobody knows how to run it.
    """
    name, *arguments = shlex.split(command.line)
    if name == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(arguments) <= set(targets), f"no such target: {command.line}"
    elif (name, arguments[:1]) == ("pip", ["install"]):
        assert arguments[1].partition("[")[0] == "mcp-anyrev"
    elif name == "mcp-anyrev" and arguments[0] == "serve" and "stdio" in arguments:
        _check_output(
            _ran_alone([*_entry(name), *arguments], folder), command.output
        )  # there is nothing to read, so it ends
    elif name == "mcp-anyrev" and arguments[0] == "serve":
        _serves([*_entry(name), *arguments, "--port", "0"], "http://", folder)
    elif name == "uvicorn":
        _serves([sys.executable, "-m", "uvicorn", *arguments, "--port", "0"], "Uvicorn running", folder)
    elif name in ("mcp-anyrev", "revgen"):
        ran = run_here({"mcp-anyrev": mcp_anyrev_main, "revgen": revgen_main}[name], name, *arguments, folder=folder)
        assert ran.code == 0, ran.stderr
        _check_output(ran.stdout, command.output)
    else:
        raise AssertionError(f"nobody knows how to run {command.line!r}")


@contextlib.contextmanager
def served(page_blocks: list[Block], folder: pathlib.Path) -> Iterator[str]:
    """The server that a page has its reader start; gives the address that stands for `ADDRESS`."""
    (line,) = [
        command.line
        for block in page_blocks
        if block.language == "console"
        for command in commands(block)
        if ADDRESS in command.output
    ]
    name, *arguments = shlex.split(line)
    with _child([*_entry(name), *arguments, "--port", "0"], folder) as child:
        assert child.stdout is not None
        yield next(line.strip() for line in child.stdout if line.startswith("http://"))


def _entry(name: str) -> list[str]:
    return [str(BIN / name)]


def _ran_alone(command: list[str], folder: pathlib.Path) -> str:
    """What a command prints, in a process of its own."""
    ran = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=COMMAND_SECONDS,
        env=os.environ | TERMINAL,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _check_output(printed: str, expected: list[str]) -> None:
    if expected:
        pattern = "\n".join(".*" if line == "…" else re.escape(line) for line in expected)
        assert re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL), printed


def _serves(command: list[str], ready: str, folder: pathlib.Path) -> None:
    """See that a server starts, and ends when it is interrupted."""
    with _child(command, folder) as child:
        assert child.stdout is not None
        end = time.monotonic() + COMMAND_SECONDS
        while ready not in (line := child.stdout.readline()):
            assert line and time.monotonic() < end, f"{command} does not start"
        child.send_signal(signal.SIGINT)
        assert child.wait(10) in (0, -signal.SIGINT)


@contextlib.contextmanager
def _child(command: list[str], folder: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()

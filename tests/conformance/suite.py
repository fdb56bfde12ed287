"""The suite as a program: installed once, then run scenario by scenario or set by set.

Rule: exactly what `package-lock.json` says, by digest, in a folder that `make clean` removes.
"""

from __future__ import annotations

import asyncio
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from npm import NotInstalled as NotInstalled
from npm import Packages

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "node_modules/@modelcontextprotocol/conformance"
SCENARIO_MILLISECONDS = 30_000
RUN_SECONDS = 300


class Suite:
    """The suite.

    Args:
        root: the project; the suite is kept below its virtual environment.
    """

    def __init__(self, root: pathlib.Path) -> None:
        self._packages = Packages(root, HERE)
        self._package = self._packages.folder / PACKAGE

    def install(self) -> None:
        """Install the suite, unless this very one is there.

        Raises:
            NotInstalled: npm could not.
        """
        self._packages.install()

    async def run(self, results: pathlib.Path, *arguments: str) -> None:
        """Run the suite against a server; what it found is in the folder then. Its exit code says too little to be used."""
        options = ("--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results))
        await self._said("server", *arguments, *options)

    async def run_client(self, results: pathlib.Path, command: str, scenario: str, revision: str | None) -> bool:
        """Run a scenario of the suite against a client; what it found is in the folder then. False where the client itself failed."""
        options = ("--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results))
        version = () if revision is None else ("--spec-version", revision)
        told = ("--command", command, "--scenario", scenario, *version)
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
            str(self._packages.node),
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

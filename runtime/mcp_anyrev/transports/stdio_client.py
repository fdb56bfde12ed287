"""A client that starts its server as a process, and speaks with it on its standard streams.

Rule: what is no message on the server's stdout is left out by whoever reads it, and ends nothing; its stderr is passed on. A server that
is let go gets the end of its stdin first, then time, then signals, and takes along whatever it has started. It inherits of our environment
what programs need to start, and none of the secrets that may stand there.
Specification: basic/transports#stdio, basic/lifecycle#stdio
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_contract.wording import cut

from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.client.pipe import PipeTransport
from mcp_anyrev.transports.lines import Lines
from mcp_anyrev.user_code import called

if TYPE_CHECKING:
    from mcp_anyrev.settings import Limits

_PIECE_BYTES = 64 * 1024
_PATIENCE_SECONDS = 2.0
"""How long a server may take to end at each step."""
_LAST_WORDS_SECONDS = 0.5
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

INHERITED = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
    if sys.platform != "win32"
    else {
        "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATH", "PATHEXT",
        "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
    }
)  # fmt: skip
"""The variables of our environment that a server gets, and those whose names begin with `LC_`."""

log = logging.getLogger("mcp_anyrev.client")

OnStderr = Callable[[str], None]


class StdioTransport(PipeTransport):
    """Starts a server and speaks with it; see `Transport`.

    Args:
        command: the program and its arguments.
        limits: how much may wait to be sent, and how long a line may be that is read.
        env: variables of its environment, beside those of ours that are `INHERITED`.
        cwd: the folder it is started in; ours if None.
        on_stderr: gets each line of its stderr; None to pass it on to ours.

    Raises:
        ValueError: there is no command.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        on_stderr: OnStderr | None = None,
    ) -> None:
        super().__init__(limits)
        if not command or not all(isinstance(part, str) for part in command):
            raise ValueError("a command is a program and its arguments, as texts")
        self._command = list(command)
        self._env = {**_inherited(), **(env or {})}
        self._cwd = cwd
        self._on_stderr = on_stderr or _pass_on
        self._lines = Lines(limits.line_bytes)
        self._read_lines: deque[bytes | None] = deque()
        self._last_words = ""
        self._process: asyncio.subprocess.Process | None = None
        self._hearing: asyncio.Task[None] | None = None

    async def _connect(self) -> None:
        group = {"start_new_session": True} if sys.platform != "win32" else {}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                **group,  # type: ignore[arg-type]  # a switch
            )
        except OSError as error:
            where = self._command[0] if error.filename is None else error.filename
            raise CannotConnect(f"{self._command[0]} cannot be started: {where}: {error.strerror or error}") from None
        self._hearing = asyncio.create_task(self._hear(self._process))

    async def _disconnect(self) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            for number in (None, signal.SIGTERM, _KILL):
                if number is not None:
                    _send_signal(process, number)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_PATIENCE_SECONDS):
                        await process.wait()
                    break
        finally:
            _send_signal(process, _KILL)  # what it has started, and left; all of it, where nobody waits any longer
            ending = [asyncio.create_task(process.wait()), *([self._hearing] if self._hearing is not None else [])]
            await asyncio.wait(ending, timeout=_LAST_WORDS_SECONDS)
            for task in ending:
                task.cancel()
            transport = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()

    async def _write(self, frame: bytes) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise CannotConnect("the server has not been started")
        try:
            process.stdin.write(frame + b"\n")
            await process.stdin.drain()
        except OSError:
            raise CannotConnect(await self._end()) from None

    async def _read(self) -> bytes:
        process = self._process
        if process is None or process.stdout is None:
            raise CannotConnect("the server has not been started")
        while True:
            while self._read_lines:
                line = self._read_lines.popleft()
                if line is None:
                    raise CannotConnect(f"the server wrote a line of more than {self._limits.line_bytes} bytes")
                return line
            piece = await process.stdout.read(_PIECE_BYTES)
            self._read_lines += self._lines.take(piece) if piece else self._lines.last()
            if not piece and not self._read_lines:
                raise CannotConnect(await self._end())

    async def _end(self) -> str:
        """How the server has ended, for a person."""
        process = self._process
        code = None
        if process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    code = await process.wait()
                    if self._hearing is not None:
                        await self._hearing
        how = "closed its stdout" if code is None else f"ended with the exit code {code}"
        last = f"; its last words: {cut(self._last_words)}" if self._last_words else ""
        return f"the server {self._command[0]} has {how}{last}"

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is None:
            return
        lines = Lines(self._limits.line_bytes)
        while piece := await process.stderr.read(_PIECE_BYTES):
            for line in lines.take(piece):
                self._heard(line)
        for line in lines.last():
            self._heard(line)

    def _heard(self, line: bytes | None) -> None:
        if line is not None:
            self._last_words = line.decode(errors="replace")
            called(partial(self._on_stderr, self._last_words), _not_passed_on)


def _inherited() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in INHERITED or name.startswith("LC_")}


def _send_signal(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to a process and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)


def _pass_on(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _not_passed_on(error: Exception) -> None:
    log.error("a line of a server's stderr was not passed on", exc_info=error)

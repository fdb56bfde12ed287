"""The terminal: what is written there, and what the person at it types.

Rule: data goes to stdout as it is, everything else to stderr. What a server says cannot steer a terminal: characters that would are shown
by their names. Reading a line holds nothing up, and ends where the command is interrupted.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from typing import IO, Any

import click

_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LINE_BYTES = 65_536


class Terminal:
    """Writes and reads.

    Args:
        color: is it coloured? None where each stream shows by itself whether it can be.
    """

    def __init__(self, color: bool | None = None) -> None:
        self._color = color
        self._out: IO[Any] = sys.stdout  # what is served in this process may have another one
        self._err: IO[Any] = sys.stderr

    @property
    def has_person(self) -> bool:
        """Is there somebody to be asked?"""
        return sys.stdin.isatty() and self._err.isatty()

    def data(self, text: str) -> None:
        """Write a line of data."""
        self._out.write(f"{harmless(text) if self._out.isatty() else text}\n")
        self._out.flush()

    def data_json(self, value: Any, *, in_one_line: bool = False) -> None:
        """Write a JSON value as data."""
        self.data(json.dumps(value, ensure_ascii=False, indent=None if in_one_line else 2))

    def content(self, held: bytes) -> None:
        """Write what a file holds, to the byte; on a terminal so that it cannot steer that."""
        if self._out.isatty():
            self.data(held.decode(errors="backslashreplace").removesuffix("\n"))
        else:
            self.bytes(held)

    def bytes(self, content: bytes) -> None:
        """Write bytes as data."""
        click.echo(content, file=self._out, nl=False)

    def note(self, text: str, **style: Any) -> None:
        """Write a line that is no data.

        Args:
            text: the line.
            style: as `click.style` has it.
        """
        click.echo(click.style(harmless(text), **style), file=self._err, color=self._color)

    async def line(self, prompt: str) -> str | None:
        """A line that the person types; None where they end their input.

        Args:
            prompt: what stands before it.
        """
        click.echo(harmless(prompt), file=self._err, nl=False, color=self._color)
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        typed: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:  # the terminal gives whole lines
            if not typed.done():
                typed.set_result(os.read(descriptor, _LINE_BYTES))

        loop.add_reader(descriptor, read)
        try:
            said = await typed
        finally:
            loop.remove_reader(descriptor)
        if not said:
            self.note("")
            return None
        return said.decode(errors="replace").rstrip("\r\n")


def harmless(text: str) -> str:
    """A text that cannot steer a terminal."""
    return _STEERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

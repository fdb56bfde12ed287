"""TARGET of a command that calls a server → what a client is given for one.

Rule: what it is can be seen from how it is written: an address, a module and a registry, or a command. Nothing is guessed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.serving.reaching import Target

FORMS = "an address (http://… or https://…), MODULE:REGISTRY, or a command, in quotes or after --"

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_REGISTRY = re.compile(r"\S+:[^\W\d]\w*")


class CannotStart(Exception):
    """A server of this process cannot start; the text says why."""


@dataclass(frozen=True)
class Reached:
    """How a server is reached: by one of these.

    Attributes:
        url: its address.
        command: what starts it, as a list of its parts.
        registry: what it offers, to be served within this process.
    """

    url: str | None = None
    command: list[str] | None = None
    registry: Registry | None = None

    @asynccontextmanager
    async def served(self) -> AsyncIterator[Target]:
        """What a client is given; a registry is served until the block ends, and what it prints goes to stderr.

        Raises:
            CannotStart: a lifespan of the registry failed.
        """
        if self.registry is None:
            target = self.url or self.command
            assert target is not None  # it is one of the three
            yield target
            return
        import sys

        from mcp_anyrev.serving.server import Server

        with redirect_stdout(sys.stderr):
            server = Server(self.registry)
            try:
                await server.start()
            except Exception as error:
                raise CannotStart(f"the server cannot start: {type(error).__name__}: {error}") from error
            try:
                yield server.connect
            finally:
                await server.close()


def reached(text: str, command: list[str] | None = None) -> Reached:
    """What TARGET means.

    Args:
        text: TARGET as it was given.
        command: what stands after `--`, in place of TARGET.

    Raises:
        ValueError: it is none; the text says what there is to write.
    """
    if command is not None:
        return Reached(command=command)
    if _ADDRESS.match(text):
        return Reached(url=text)
    if len(text.split()) > 1:
        return Reached(command=_split(text))
    if _REGISTRY.fullmatch(text):
        from mcp_anyrev.cli.targets import load_registry

        return Reached(registry=load_registry(text))
    raise ValueError(f"{text!r} is none; write {FORMS}")


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as fault:
        raise ValueError(f"{text!r} is no command: {fault}") from None

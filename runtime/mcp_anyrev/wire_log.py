"""What passes between clients and a server, in the log: each message both ways, with its head.

Rule: nobody is shown what would let them act as somebody else, and one line of the log is bounded, whatever passes. It is for the logger
`mcp_anyrev.wire` at `DEBUG` when the server starts; otherwise nothing is paid for it.
"""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_contract import Json, JsonObject
from mcp_contract.wording import cut

from mcp_anyrev.masking import shown_address, shown_headers, shown_message

log = logging.getLogger("mcp_anyrev.wire")

LONGEST = 16_384
"""The most characters of what is shown of one message."""

_DATA = b"data:"

numbers = itertools.count(1)
"""Tell the requests of one process apart."""


def is_wanted() -> bool:
    """Does anybody want to see it?"""
    return log.isEnabledFor(logging.DEBUG)


@dataclass(frozen=True)
class Passed:
    """One thing that has passed.

    Attributes:
        outwards: did it go to the client?
        number: which request over HTTP it belongs to; None where there are none.
        line: what a head begins with; empty where it is no head.
        headers: the header fields of a head.
        content: a message, a piece of a stream, or a body.
    """

    outwards: bool
    number: int | None = None
    line: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None

    def __str__(self) -> str:
        mark = "←" if self.outwards else "→"
        first = mark if self.number is None else f"{mark} {self.number}"
        if self.line:
            fields = [f"  {name}: {value}" for name, value in shown_headers(self.headers)]
            return cut("\n".join([f"{first} {shown_address(self.line)}", *fields]), LONGEST)
        return f"{first} {self._shown()}"

    def to_json(self) -> JsonObject:
        """As JSON."""
        told: dict[str, Json] = {"direction": "out" if self.outwards else "in"}
        if self.number is not None:
            told["request"] = self.number
        if self.line:
            return {**told, "line": shown_address(self.line), "headers": dict(shown_headers(self.headers))}
        shown = self._shown()
        try:
            return {**told, "message": json.loads(shown)}
        except ValueError:
            return {**told, "text": shown}

    def _shown(self) -> str:
        content = self.content or b""
        lines = content.splitlines()
        if not any(line.startswith(_DATA) for line in lines):
            return cut(shown_message(content), LONGEST)
        events = [
            shown_message(line.removeprefix(_DATA)) if line.startswith(_DATA) else line.decode(errors="replace")
            for line in lines
        ]
        return cut("\n".join(line for line in events if line), LONGEST)


def tell(passed: Passed) -> None:
    """Put it in the log."""
    log.debug("%s", passed)

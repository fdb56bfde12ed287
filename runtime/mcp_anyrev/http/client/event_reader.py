"""Server-sent events from bytes.

Rule: pieces may be cut anywhere, and every byte is looked at once. What an event holds is bounded, and so is a line, whatever is on it.
Specification: basic/transports/streamable-http#receiving-messages; https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

from typing import NamedTuple

from mcp_anyrev.client.errors import WrongAnswer

MESSAGE = "message"
"""The name of an event that names none."""

_MARK = b"\xef\xbb\xbf"
_LONGEST_NAME = 1_024
"""How many letters a name or an id has at most; a longer one is as good as none. An id becomes a header of a request."""

_MOST_DIGITS = 9


class Event(NamedTuple):
    """One event.

    Attributes:
        name: its name.
        data: its data, without line breaks at the end; empty for one that only says where the stream is.
        identifier: the id up to which the stream has come; None while none was given.
    """

    name: str
    data: bytes
    identifier: str | None


class EventReader:
    """Reads one stream.

    Args:
        most_bytes: how many bytes a line, or the data of an event, may have.
        identifier: the id up to which it has come already, on another connection.

    Attributes:
        retry: after how many seconds to come back when the stream breaks, as it said last; None where it did not.
    """

    def __init__(self, most_bytes: int, identifier: str | None = None) -> None:
        self.retry: float | None = None
        self._most_bytes = most_bytes
        self._line = bytearray()
        self._begun = False
        self._returned = False
        """Was a carriage return the last byte, so that a line feed that follows belongs to it?"""
        self._name = ""
        self._data = bytearray()
        self._identifier = identifier

    def feed(self, piece: bytes) -> list[Event]:
        """Take a piece of the stream.

        Args:
            piece: what has come.

        Returns:
            The events that end in it.

        Raises:
            WrongAnswer: a line or an event is too large.
        """
        if not piece:
            return []
        if self._returned and piece.startswith(b"\n"):
            piece = piece[1:]
            self._returned = False
            if not piece:
                return []
        self._returned = piece.endswith(b"\r")
        *ended, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[Event] = []
        for line in ended:
            if self._line:
                self._grow(self._line, line)
                line = bytes(self._line)
                self._line.clear()
            self._take(line, events)
        self._grow(self._line, rest)
        return events

    def _take(self, line: bytes, events: list[Event]) -> None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_MARK)
        if not line:
            events.append(Event(self._name or MESSAGE, bytes(self._data[:-1]), self._identifier))
            self._name = ""
            self._data.clear()
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._grow(self._data, value)
            self._data += b"\n"
        elif field == b"event":
            self._name = value[:_LONGEST_NAME].decode(errors="replace")
        elif field == b"id":
            self._identify(value)
        elif field == b"retry" and value.isdigit() and len(value) <= _MOST_DIGITS:
            self.retry = int(value) / 1_000

    def _identify(self, value: bytes) -> None:
        """Keep an id that can be sent back as it came; behind any other one the stream cannot be taken up."""
        try:
            identifier = value.decode()
        except UnicodeDecodeError:
            identifier = ""
        usable = 0 < len(identifier) <= _LONGEST_NAME and identifier.isprintable() and identifier == identifier.strip()
        self._identifier = identifier if usable else None

    def _grow(self, kept: bytearray, more: bytes) -> None:
        if len(kept) + len(more) > self._most_bytes:
            raise WrongAnswer(f"the server sent an event of more than {self._most_bytes} bytes")
        kept += more

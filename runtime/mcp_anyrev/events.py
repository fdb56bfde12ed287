"""Server-sent events as bytes.

Rule: every event is one line of data, whatever a reader takes for the end of a line: JSON as written here has no line breaks, and those of
Unicode, which only text in it can hold, are escaped.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

KEEP_ALIVE = b":\n\n"
"""A comment, which keeps a stream from being taken for dead."""


_LINE_BREAKS = {character.encode(): f"\\u{ord(character):04x}".encode() for character in "\x85\u2028\u2029"}


def event(message: bytes, identifier: str | None = None) -> bytes:
    """A message as JSON → an event of a stream, with an id where there is one."""
    if identifier is None:
        return b"data: %b\n\n" % _one_line(message)
    return b"id: %b\ndata: %b\n\n" % (identifier.encode(), _one_line(message))


def named_event(name: str | None, data: bytes) -> bytes:
    """JSON, or an address → an event of a stream, with a name if it has one."""
    data = _one_line(data)
    return b"data: %b\n\n" % data if name is None else b"event: %b\ndata: %b\n\n" % (name.encode(), data)


def opening_event(identifier: str, retry: int) -> bytes:
    """An event without data, from which a client knows where and after how many milliseconds to take the stream up again."""
    return b"id: %b\nretry: %d\ndata:\n\n" % (identifier.encode(), retry)


def _one_line(message: bytes) -> bytes:
    for line_break, escaped in _LINE_BREAKS.items():
        message = message.replace(line_break, escaped)
    return message

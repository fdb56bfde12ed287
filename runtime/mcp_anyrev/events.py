"""Server-sent events as bytes.

Rule: JSON as written here has no line breaks, so that every event is one line of data.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

KEEP_ALIVE = b":\n\n"
"""A comment, which keeps a stream from being taken for dead."""


def event(message: bytes, identifier: str | None = None) -> bytes:
    """A message → an event of a stream, with an id where there is one. JSON as written here has no line breaks."""
    if identifier is None:
        return b"data: %b\n\n" % message
    return b"id: %b\ndata: %b\n\n" % (identifier.encode(), message)


def named_event(name: str | None, data: bytes) -> bytes:
    """Data without line breaks → an event of a stream, with a name if it has one."""
    return b"data: %b\n\n" % data if name is None else b"event: %b\ndata: %b\n\n" % (name.encode(), data)


def opening_event(identifier: str, retry: int) -> bytes:
    """An event without data, from which a client knows where and after how many milliseconds to take the stream up again."""
    return b"id: %b\nretry: %d\ndata:\n\n" % (identifier.encode(), retry)

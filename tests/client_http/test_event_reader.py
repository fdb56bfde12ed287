"""Events from bytes, as the standard of server-sent events has it (section 9.2.6), cut anywhere.

Rule: the bound on an event is a bound on memory, and reading takes time in proportion to what comes.
"""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_anyrev.client.errors import WrongAnswer
from mcp_anyrev.events import event, named_event, opening_event
from mcp_anyrev.http.client.event_reader import Event, EventReader

MOST = 1_000


def read(stream: bytes, *cuts: int) -> list[Event]:
    reader = EventReader(MOST)
    ends = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    pieces = [stream[begin:end] for begin, end in itertools.pairwise(ends)]
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [Event("message", b"a", None)]),
        (b"data:a\r\n\r\n", [Event("message", b"a", None)]),
        (b"data:  a\r\r", [Event("message", b" a", None)]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("message", b"a", None)]),
        (b"data: a\ndata\ndata: b\n\n", [Event("message", b"a\n\nb", None)]),
        (b": a comment\ndata: a\n\n", [Event("message", b"a", None)]),
        (b"event: endpoint\ndata: /x\n\ndata: y\n\n", [Event("endpoint", b"/x", None), Event("message", b"y", None)]),
        (b"id: 7\n\ndata: a\n\n", [Event("message", b"", "7"), Event("message", b"a", "7")]),
        (b"id: 7\ndata: a\n\nid\ndata: b\n\n", [Event("message", b"a", "7"), Event("message", b"b", None)]),
        (b"id: a\0b\ndata: a\n\n", [Event("message", b"a", None)]),
        (b"unknown: x\nDATA: y\ndata: a\n\n", [Event("message", b"a", None)]),
        (b"data: never ended\n", []),
        (b"data: \xff\n\n", [Event("message", b"\xff", None)]),
        ("data: \u2028\x85\n\n".encode(), [Event("message", "\u2028\x85".encode(), None)]),
    ],
)
def test_events_are_read_as_the_standard_says(stream: bytes, expected: list[Event]) -> None:
    assert read(stream) == expected
    assert read(stream, *range(len(stream))) == expected


def test_retry_is_in_milliseconds_and_only_digits() -> None:
    reader = EventReader(MOST)
    reader.feed(b"retry: 500\n\n")
    assert reader.retry == 0.5
    for wrong in (
        b"retry: -1\n\n",
        b"retry: 1.5\n\n",
        b"retry: soon\n\n",
        b"retry:\n\n",
        b"retry: %b\n\n" % (b"9" * 400),
    ):
        reader.feed(wrong)
        assert reader.retry == 0.5


_LINES = st.lists(
    st.sampled_from(
        [b"data: x", b"data", b"id: 1", b"id", b"event: e", b"retry: 3", b":", b"", b"\xef\xbb\xbf", b"da"]
    ),
    max_size=12,
)
_ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])


@given(_LINES, st.lists(_ENDS, min_size=12, max_size=12), st.lists(st.integers(0, 150), max_size=30))
def test_where_the_stream_is_cut_makes_no_difference(lines: list[bytes], ends: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + end for line, end in zip(lines, ends, strict=False))
    assert read(stream, *cuts) == read(stream)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=20))
def test_nothing_that_comes_fails_but_by_its_size(stream: bytes, cuts: list[int]) -> None:
    assert read(stream, *cuts) == read(stream)


@given(st.text(max_size=50), st.text("abc-_~", min_size=1, max_size=10))
def test_what_our_own_server_writes_is_read(text: str, name: str) -> None:
    said = text.replace("\n", " ").replace("\r", " ").replace("\x85", " ").replace("\u2028", " ").replace("\u2029", " ")
    data = f'"{said}"'.encode()
    stream = opening_event("0", 5) + event(data, "1") + named_event(name, data)
    assert read(stream) == [Event("message", b"", "0"), Event("message", data, "1"), Event(name, data, "1")]


@pytest.mark.parametrize(
    "endless", [b"data: " + b"x" * 300 + b"\n", b"data\n", b"x" * 300, b":" + b"x" * 300, b"event: " + b"x" * 300]
)
def test_an_event_and_a_line_without_an_end_are_refused(endless: bytes) -> None:
    reader = EventReader(MOST)
    with pytest.raises(WrongAnswer, match="more than 1000 bytes"):
        for _ in range(MOST + 2):
            reader.feed(endless)


def test_reading_takes_time_in_proportion_to_what_comes() -> None:
    def seconds(size: int) -> float:
        reader, begun = EventReader(10 * size), time.process_time()
        for _ in range(size // 10):
            reader.feed(b"data: 3456")
        return time.process_time() - begun

    seconds(10_000)
    # Ten times as much takes ten times as long, not a hundred times.
    assert seconds(1_000_000) < 40 * max(seconds(100_000), 0.005)

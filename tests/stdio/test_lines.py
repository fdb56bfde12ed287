"""Lines out of bytes that come in pieces."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from mcp_anyrev.transports.lines import Lines


@given(st.binary(max_size=80), st.lists(st.integers(0, 80), max_size=6), st.integers(1, 30))
def test_lines_do_not_depend_on_the_pieces(data: bytes, cuts: list[int], most: int) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    lines = Lines(most)
    found = [line for at, to in itertools.pairwise(places) for line in lines.take(data[at:to])]
    found += lines.last()
    whole = [part.removesuffix(b"\r") if len(part) <= most else None for part in data.split(b"\n")]
    assert found == [line for line in whole if line is None or line.strip()]


def test_long_lines_cost_no_more_than_their_bytes() -> None:
    lines = Lines(10_000_000)
    assert not [line for _ in range(5_000) for line in lines.take(b"x" * 1_000)]
    assert [len(line or b"") for line in lines.take(b"\n")] == [5_000_000]

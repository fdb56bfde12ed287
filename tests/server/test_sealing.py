"""Sealed state: opens only unchanged, in time, for its purpose, with a known key.

Citations: basic/patterns/mrtr#server-requirements-basic-workflow.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_anyrev.server.asking.request_state import purpose_of
from mcp_anyrev.server.asking.sealing import Seal, SealBroken

OLD, NEW = b"an old secret of some length", b"a new secret of some length"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(state=st.dictionaries(st.text(), json_values, max_size=4), purpose=st.binary())
def test_what_was_sealed_opens_for_its_purpose(state: dict[str, Any], purpose: bytes) -> None:
    seal = Seal([NEW], 600)
    assert seal.open(seal.seal(state, purpose), purpose) == state


@given(data=st.data())
@settings(max_examples=100)
def test_no_changed_byte_opens(data: st.DataObject) -> None:
    seal = Seal([NEW], 600, Clock())
    raw = base64.urlsafe_b64decode(_padded(seal.seal({"a": 1}, b"p")))
    at = data.draw(st.integers(0, len(raw) - 1))
    flipped = raw[:at] + bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]
    with pytest.raises(SealBroken):
        seal.open(base64.urlsafe_b64encode(flipped).decode(), b"p")


@given(text=st.text())
def test_no_invented_text_opens(text: str) -> None:
    with pytest.raises(SealBroken):
        Seal([NEW], 600).open(text, b"p")


def test_another_purpose_does_not_open() -> None:
    seal = Seal([NEW], 600)
    with pytest.raises(SealBroken):
        seal.open(seal.seal({}, b"one"), b"other")


def test_time_runs_out() -> None:
    clock = Clock()
    seal = Seal([NEW], 10, clock)
    text = seal.seal({"a": 1}, b"p")
    clock.now += 9.9
    assert seal.open(text, b"p") == {"a": 1}
    clock.now += 0.1
    with pytest.raises(SealBroken):
        seal.open(text, b"p")


def test_keys_rotate() -> None:
    before, between, after = Seal([OLD], 600), Seal([NEW, OLD], 600), Seal([NEW], 600)
    assert between.open(before.seal({"a": 1}, b"p"), b"p") == {"a": 1}
    assert after.open(between.seal({"a": 1}, b"p"), b"p") == {"a": 1}
    with pytest.raises(SealBroken):
        after.open(before.seal({"a": 1}, b"p"), b"p")


def test_servers_without_a_key_do_not_open_each_others_state() -> None:
    with pytest.raises(SealBroken):
        Seal([], 600).open(Seal([], 600).seal({}, b"p"), b"p")


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a key has at least 16 bytes$"):
        Seal([b"short"], 600)


def test_the_state_cannot_be_read_without_the_key() -> None:
    sealed = base64.urlsafe_b64decode(_padded(Seal([NEW], 600).seal({"secret": "hunter2"}, b"p")))
    assert b"hunter2" not in sealed


arguments = st.tuples(
    st.text(), st.none() | st.text(), st.sampled_from(["tools/call", "prompts/get"]), st.text(), json_values
)


# What differs in one part alone, which two values that are drawn each by itself never do.
@example(one=("s", "p", "tools/call", "t", {}), other=("r", "p", "tools/call", "t", {}))
@example(one=("s", "p", "tools/call", "t", {}), other=("s", None, "tools/call", "t", {}))
@example(one=("s", "", "tools/call", "t", {}), other=("s", None, "tools/call", "t", {}))
@example(one=("s", "p", "tools/call", "t", {}), other=("s", "p", "prompts/get", "t", {}))
@example(one=("s", "p", "tools/call", "t", {}), other=("s", "p", "tools/call", "u", {}))
@example(one=("s", "p", "tools/call", "t", {}), other=("s", "p", "tools/call", "t", {"a": 1}))
@example(one=("s", "p", "tools/call", "t", {}), other=("s", "p", "tools/call", "t", None))
@given(one=arguments, other=arguments)
def test_a_purpose_is_one_calls_alone(one: Any, other: Any) -> None:
    if repr(one) != repr(other):
        assert purpose_of(*one) != purpose_of(*other) or one == other


def test_a_purpose_does_not_depend_on_the_order_of_members() -> None:
    one = purpose_of("s", None, "m", "t", {"a": 1, "b": 2})
    assert one == purpose_of("s", None, "m", "t", {"b": 2, "a": 1})


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)

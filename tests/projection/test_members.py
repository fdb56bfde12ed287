"""The helpers that emitted code calls."""

from __future__ import annotations

import pytest
from mcp_contract.members import NotSendable, keep, leave_out, one_or_all


def test_keep_drops_unknown_members_and_none() -> None:
    value = {"a": 1, "b": None, "c": 3, "d": False}
    assert keep(value, frozenset("abd")) == {"a": 1, "d": False}
    assert value == {"a": 1, "b": None, "c": 3, "d": False}


def test_keep_leaves_null_where_it_is_a_value() -> None:
    assert keep({"a": None, "b": None}, frozenset("ab"), frozenset("b")) == {"b": None}


def test_leave_out_keeps_the_rest_as_it_is() -> None:
    value = {"a": 1, "b": None, "c": 3}
    assert leave_out(value, frozenset("a")) == {"b": None, "c": 3}
    assert value == {"a": 1, "b": None, "c": 3}


def test_one_or_all() -> None:
    assert one_or_all({"given": 1}, [{"sent": 1}]) == {"sent": 1}
    assert one_or_all([{"given": 1}], [{"sent": 1}]) == [{"sent": 1}]
    assert one_or_all({"given": 1}, [{"sent": 1}, {"sent": 2}]) == [{"sent": 1}, {"sent": 2}]
    assert one_or_all([], []) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"type": "film", "data": "secret"}, "a value of type 'film' is no Block"),
        ({"type": 3}, "a value that is a dict is no Block"),
        ("text", "a value that is a str is no Block"),
    ],
)
def test_not_sendable_says_what_kind_of_value_and_nothing_of_it(value: object, message: str) -> None:
    error = NotSendable("Block", value)
    assert error.message == message
    assert error.kind == "internal_error"

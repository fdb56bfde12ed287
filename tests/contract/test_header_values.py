"""Header values: basic/transports/streamable-http#value-encoding."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_contract import HeaderMismatch, check_mirrored, decode_header_value, encode_header_value

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
# What looks like an encoding, what a field cannot have at its ends, and what is no printable ASCII.
EDGES = (
    "",
    " ",
    "\t",
    " a",
    "a ",
    " a\tb ",
    " é ",
    "\u00a0a",
    "a\r\nb",
    "\x00",
    "\x7f",
    "=?base64?YQ==?=",
    "=?base64?",
    "é",
    "\u2028",
)


def with_edges(test: Callable[[str], None]) -> Callable[[str], None]:
    for text in EDGES:
        test = example(text)(test)
    return test


@with_edges
@given(texts)
def test_any_text_comes_back_from_its_header_value(text: str) -> None:
    assert decode_header_value(encode_header_value(text)) == text


@with_edges
@given(texts)
def test_a_header_value_is_printable_ascii_without_outer_blanks(text: str) -> None:
    value = encode_header_value(text)
    assert all("\x20" <= letter <= "\x7e" for letter in value)
    assert value == value.strip()


@pytest.mark.parametrize("value", ["us-west1", "a b", "=?base64?", "?=", "SGVsbG8="])
def test_a_safe_value_travels_as_it_is(value: str) -> None:
    assert encode_header_value(value) == value


def test_a_value_that_looks_encoded_is_encoded() -> None:
    assert encode_header_value("=?base64?literal?=") == "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="


@pytest.mark.parametrize("value", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="])
def test_what_claims_to_be_encoded_and_is_not_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="Base64"):
        decode_header_value(value)


@pytest.mark.parametrize("value", ["é", "日本", "a\x00b", "a\rb", "\x7f", "\ud800"])
def test_letters_that_no_plain_value_has_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        decode_header_value(value)


def test_half_a_surrogate_pair_has_no_header_value() -> None:
    with pytest.raises(ValueError):
        encode_header_value("\ud800")


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "the header Mcp-Name is missing; the body says 'add'"),
        ({"mcp-name": "Add"}, "the header Mcp-Name says 'Add'; the body says 'add'"),
        ({"mcp-name": "=?base64?%%%?="}, "the header Mcp-Name cannot be read: not valid Base64 of UTF-8 text"),
    ],
)
def test_a_header_that_does_not_bear_out_the_body_is_refused(headers: dict[str, str], words: str) -> None:
    with pytest.raises(HeaderMismatch) as caught:
        check_mirrored(headers, "Mcp-Name", "add", encoded=True)
    assert caught.value.message == words


@pytest.mark.parametrize("sent", ["add", "  add ", "=?base64?YWRk?="])
def test_a_header_may_be_padded_or_encoded(sent: str) -> None:
    check_mirrored({"mcp-name": sent}, "Mcp-Name", "add", encoded=True)


def test_a_header_without_the_encoded_form_is_compared_as_it_is() -> None:
    with pytest.raises(HeaderMismatch):
        check_mirrored({"mcp-method": "=?base64?cGluZw==?="}, "Mcp-Method", "ping")

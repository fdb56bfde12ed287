"""Parameters repeated in headers: basic/transports/streamable-http#custom-headers-from-tool-parameters."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_contract import HeaderMismatch, InvalidAnnotation, check_param_headers, header_parameters, param_headers


def tool(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


PREFIX = "Mcp-Param-"
REGION = {"type": "string", "x-mcp-header": "Region"}
SCHEMA = tool(
    region=REGION,
    count={"type": "integer", "x-mcp-header": "Count"},
    nested=tool(deep={"type": ["boolean", "null"], "x-mcp-header": "Deep"}),
    free={"type": "string"},
)


def test_annotations_are_found_where_properties_lead() -> None:
    assert [(one.path, one.name, one.type) for one in header_parameters(SCHEMA)] == [
        (("region",), "Region", "string"),
        (("count",), "Count", "integer"),
        (("nested", "deep"), "Deep", "boolean"),
    ]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (tool(a={"type": "string", "x-mcp-header": ""}), "x-mcp-header is ''"),
        (tool(a={"type": "string", "x-mcp-header": "a b"}), "x-mcp-header is 'a b'"),
        (tool(a={"type": "string", "x-mcp-header": "é"}), "x-mcp-header is 'é'"),
        (tool(a={"type": "string", "x-mcp-header": "a\n"}), "x-mcp-header is 'a\\n'"),
        (tool(a={"type": "string", "x-mcp-header": 3}), "x-mcp-header is 3"),
        (tool(a={"type": "number", "x-mcp-header": "A"}), "on type 'number'"),
        (tool(a={"type": "object", "x-mcp-header": "A"}), "on type 'object'"),
        (tool(a={"x-mcp-header": "A"}), "on a schema without a type of its own"),
        (tool(a=REGION, b={"type": "string", "x-mcp-header": "REGION"}), "'REGION' is given twice"),
        (tool(a={"type": "array", "items": REGION}), "only where properties alone lead"),
        (tool(a={"anyOf": [REGION]}), "only where properties alone lead"),
        ({**tool(a={"$ref": "#/$defs/A"}), "$defs": {"A": REGION}}, "only where properties alone lead"),
        ({"type": "object", "x-mcp-header": "A"}, "only where properties alone lead"),
    ],
)
def test_an_annotation_that_breaks_a_rule_makes_the_tool_invalid(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidAnnotation) as caught:
        header_parameters(schema)
    assert words in str(caught.value)
    assert str(caught.value).startswith("#")


def test_an_example_value_is_no_annotation() -> None:
    assert header_parameters(tool(a={"type": "object", "default": {"x-mcp-header": "A"}})) == ()


def test_absent_and_null_values_have_no_header() -> None:
    assert param_headers({"count": 42, "nested": {"deep": None}}, SCHEMA, PREFIX) == {"Mcp-Param-Count": "42"}


arguments = st.fixed_dictionaries(
    {},
    optional={
        "region": st.none() | st.text(alphabet=st.characters(exclude_categories=["Cs"])),
        "count": st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
        "nested": st.fixed_dictionaries({}, optional={"deep": st.none() | st.booleans()}),
    },
)


@example({"region": " a "})
@example({"region": " "})
@example({"region": "\ta"})
@example({"region": "a\t"})
@example({"region": "\u00a0a "})
@example({"region": "=?base64?YQ==?="})
@example({"region": "", "nested": {}})
@example({"count": 2**53 - 1})
@example({"count": -(2**53) + 1})
@example({"count": 0, "nested": {"deep": False}})
@given(arguments)
def test_what_a_client_sends_bears_out_the_call(given_arguments: dict[str, Any]) -> None:
    headers = {name.lower(): value for name, value in param_headers(given_arguments, SCHEMA, PREFIX).items()}
    check_param_headers(headers, given_arguments, SCHEMA, PREFIX)


@pytest.mark.parametrize(
    ("headers", "given_arguments", "words"),
    [
        ({}, {"region": "eu"}, "the header Mcp-Param-Region is missing; the body has a value for region"),
        ({"mcp-param-region": "us"}, {"region": "eu"}, "the header Mcp-Param-Region says 'us'; the body says 'eu'"),
        ({"mcp-param-region": "EU"}, {"region": "eu"}, "the header Mcp-Param-Region says 'EU'; the body says 'eu'"),
        ({"mcp-param-region": "=?base64?!?="}, {"region": "eu"}, "the header Mcp-Param-Region cannot be read"),
        ({"mcp-param-region": "eu"}, {}, "the header Mcp-Param-Region stands for region, which has no value"),
        (
            {"mcp-param-region": "eu"},
            {"region": None},
            "the header Mcp-Param-Region stands for region, which has no value",
        ),
        ({"mcp-param-count": "x"}, {"count": 1}, "the header Mcp-Param-Count says 'x'; the body says '1'"),
        ({"mcp-param-count": "1"}, {"count": True}, "the header Mcp-Param-Count says '1'; the body says 'true'"),
        ({"mcp-param-region": "a"}, {"region": "a "}, "the header Mcp-Param-Region says 'a'; the body says 'a '"),
        ({"mcp-param-region": "=?base64?IGE=?="}, {"region": "a"}, "says ' a'; the body says 'a'"),
    ],
)
def test_a_header_that_does_not_bear_out_the_call_is_refused(
    headers: dict[str, str], given_arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(HeaderMismatch) as caught:
        check_param_headers(headers, given_arguments, SCHEMA, PREFIX)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("42.0", 42),
        ("42", 42.0),
        ("4.2e1", 42),
        ("-0", 0),
        ("9007199254740991.0", 2**53 - 1),
        ("9007199254740993", 2**53 + 1),
        ("-9007199254740993.0", -(2**53) - 1),
        ("1e22", 10**22),
    ],
)
def test_integers_are_compared_as_numbers(said: str, value: Any) -> None:
    check_param_headers({"mcp-param-count": said}, {"count": value}, SCHEMA, PREFIX)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("9007199254740993", 2**53),
        ("9007199254740992", 2**53 + 1),
        ("-9007199254740993", -(2**53)),
        ("9007199254740993", float(2**53)),
        ("9007199254740991.4", 2**53 - 1),
        ("0.99999999999999999999", 1),
        ("1e400", 10**400 + 1),
        ("4_2", 42),
        ("0x2a", 42),
        ("٤٢", 42),
        ("nan", 42),
        ("inf", 42),
        ("42 0", 42),
        ("", 42),
    ],
)
def test_integers_that_are_near_are_not_the_same(said: str, value: Any) -> None:
    """Beyond 2^53 many integers are one float."""
    with pytest.raises(HeaderMismatch):
        check_param_headers({"mcp-param-count": said}, {"count": value}, SCHEMA, PREFIX)

"""What W3C gives values by which traces are followed. Citations: Trace Context 3.2 and 3.3, Baggage 3.2."""

from typing import Any

import pytest
from mcp_contract.trace_context import check_trace_context

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("traceparent", f"00-{TRACE}-{SPAN}-00"),
        ("traceparent", f"cc-{TRACE}-{SPAN}-01-what-comes-later"),
        ("tracestate", ""),
        ("tracestate", "rojo=00f067aa0ba902b7, ,congo=t61rcWkgMzE"),
        ("tracestate", "0tenant@system=a b c,x*/-_=~"),
        ("tracestate", ",".join(f"k{number}=1" for number in range(32))),
        ("baggage", "a=1"),
        ("baggage", "key1=value1 ;\tproperty1; property2 = v , key2="),
        ("baggage", "equals=a=b"),
    ],
)
def test_a_value_that_others_read_is_taken(key: str, value: str) -> None:
    check_trace_context(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("traceparent", "junk"),
        ("traceparent", ""),
        ("traceparent", f"00-{TRACE.upper()}-{SPAN}-01"),
        ("traceparent", f"00-{'0' * 32}-{SPAN}-01"),
        ("traceparent", f"00-{TRACE}-{'0' * 16}-01"),
        ("traceparent", f"ff-{TRACE}-{SPAN}-01"),
        ("traceparent", f"00-{TRACE}-{SPAN}-01-more"),
        ("traceparent", f"01-{TRACE}-{SPAN}-01more"),
        ("traceparent", f"00-{TRACE}-{SPAN}-01\n"),
        ("traceparent", 5),
        ("tracestate", "rojo"),
        ("tracestate", "===="),
        ("tracestate", "Rojo=1"),
        ("tracestate", "a=1,a=2"),
        ("tracestate", "a=é"),
        ("tracestate", "a=" + "x" * 257),
        ("tracestate", "a" * 257 + "=1"),
        ("tracestate", ",".join(f"k{number}=1" for number in range(33))),
        ("tracestate", None),
        ("baggage", ""),
        ("baggage", "a"),
        ("baggage", "a=b c"),
        ("baggage", 'a="b"'),
        ("baggage", "a=é"),
        ("baggage", "a=1,,b=2"),
        ("baggage", {"a": 1}),
    ],
)
def test_any_other_value_is_refused_with_its_key(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"of {key} is none"):
        check_trace_context(key, value)


def test_a_key_of_another_name_is_none_of_them() -> None:
    with pytest.raises(ValueError, match="traceparent, tracestate, baggage"):
        check_trace_context("x-trace", "1")

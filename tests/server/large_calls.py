"""Requests of about 4 MB, of every shape: what a client without credentials can send at the default limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MOST = 4 * 1024 * 1024 - 4_096
PLACE = "@place@"
"""Where JSON text is put in."""


class Large(NamedTuple):
    """A request; where it is filled in, JSON text stands."""

    name: str
    method: str
    params: dict[str, Any]
    filling: str

    def body(self, message: dict[str, Any]) -> bytes:
        return json.dumps(message).replace(json.dumps(PLACE), self.filling).encode()


def items(item: str, room: int = MOST) -> str:
    """An array of equal items."""
    return f"[{','.join([item] * (room // (len(item) + 1)))}]"


def members(value: str, room: int = MOST) -> str:
    """An object of many members."""
    return "{" + ",".join(f'"k{number}":{value}' for number in range(room // (len(value) + 10))) + "}"


def few(item: str, most: int = 99_000) -> str:
    """An array of so many items as one message may hold."""
    values = 1 + item.count(",") + item.count("{") + item.count("[")
    return f"[{','.join([item] * (most // values))}]"


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def shapes() -> Iterator[tuple[str, str]]:
    """Values, by what they are like."""
    yield "numbers", items("0")
    yield "fractions", items("1.25")
    yield "empty objects", items("{}")
    yield "empty arrays", items("[]")
    yield "deep", items("[" * 150 + "]" * 150)
    yield "many members", members("0")
    yield "many long members", members('"' + "x" * 80 + '"')
    yield "few small objects", few('{"a":1,"b":[2]}')
    yield "few deep", few(nested(30))
    yield "too deep", few(nested(150))
    yield "text", json.dumps("x" * MOST)
    yield "escapes", '"' + "\\u00e9" * (MOST // 6) + '"'
    yield "separators", json.dumps("1,[{" * (MOST // 4))
    yield "quotes", '"' + '\\"' * (MOST // 2) + '"'
    yield "huge integers", items("1" * 990)
    yield "large integers", few("12345678901234567890123")
    yield "too huge integers", items("1" * 4_200)
    yield "exponents", few("1.7976931348623157e+308")
    yield "texts", few('"' + "é" * 15 + '"')


def large_calls(meta: dict[str, Any]) -> Iterator[Large]:
    """The requests; `meta` is what the params carry already."""
    for place, (name, filling) in enumerate(shapes()):
        yield Large(f"echo: {name}", "tools/call", {"name": "echo", "arguments": {"it": PLACE}}, filling)
        if place % 3 == 0:
            yield Large(f"anything: {name}", "tools/call", {"name": "anything", "arguments": {"it": PLACE}}, filling)
            yield Large(f"meta: {name}", "tools/list", {"_meta": {**meta, "x/y": PLACE}}, filling)
    row, wrong = '{"number":1,"name":"a name"}', '{"number":"1"}'
    for tool, name, filling in (
        ("rows", "rows", few(row)),
        ("rows_in_thread", "rows", few(row)),
        ("rows", "wrong rows", few(wrong)),
        ("rows", "one wrong row", few(row, 98_000)[:-1] + "," + wrong + "]"),
        ("rows", "no rows", members("0")),
        ("echo_in_thread", "objects", few('{"a":1,"b":[2]}')),
        ("nullable", "without null", few('{"number":1}')),
        ("nullable", "with null", few('{"number":1,"note":null}')),
        ("nullable", "wrong", few('{"number":1,"note":1}')),
        ("numbers", "different", "[" + ",".join(map(str, range(99_000))) + "]"),
        ("numbers", "large", "[" + ",".join(map(str, range(10**25, 10**25 + 99_000))) + "]"),
        ("defaults", "left out", few("{}")),
        ("addresses", "right", few('"192.0.2.1"')),
        ("addresses", "wrong", few('"192.0.2.256"')),
        ("paths", "paths", few('"a/b/c/d"')),
        ("text", "text", json.dumps('x"' * (MOST // 3))),
    ):
        yield Large(f"{tool}: {name}", "tools/call", {"name": tool, "arguments": {"it": PLACE}}, filling)
    yield Large("wide arguments", "tools/call", {"name": "rows", "arguments": PLACE}, members("0", 900_000))
    for tool in ("gives_rows", "gives_numbers", "gives_text"):
        yield Large(tool, "tools/call", {"name": tool, "arguments": {}}, "")
    yield Large("resource", "resources/read", {"uri": "mx://some/path"}, "")
    yield Large("address", "resources/read", {"uri": PLACE}, json.dumps("mx://" + "/-" * (MOST // 2)))
    yield Large("prompt", "prompts/get", {"name": "words", "arguments": {"one": PLACE}}, json.dumps("é" * (MOST // 6)))
    yield Large("prompt: wrong", "prompts/get", {"name": "words", "arguments": PLACE}, members("0", 900_000))
    reference = {"ref": {"type": "ref/prompt", "name": "words"}}
    argument = {"name": "one", "value": PLACE}
    yield Large("completion", "completion/complete", {**reference, "argument": argument}, json.dumps("x" * MOST))
    known = {"argument": {"name": "one", "value": ""}, "context": {"arguments": PLACE}}
    yield Large("completion: context", "completion/complete", {**reference, **known}, members('"x"', 900_000))
    yield Large("completion: wrong", "completion/complete", {**reference, **known}, members("1", 900_000))
    yield Large("method", PLACE, {}, json.dumps("x" * MOST))
    yield Large("cursor", "tools/list", {"cursor": PLACE}, json.dumps("x" * MOST))
    wanted = {"notifications": {"resourceSubscriptions": PLACE}}
    yield Large("subscriptions", "subscriptions/listen", wanted, few("1"))

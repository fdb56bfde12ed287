"""Values that come out of an address, and what is not filled in of a prompt.

Citations: server/resources#security-considerations, server/prompts#getting-a-prompt.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Annotated, Any, Literal

import pytest
from mcp_anyrev import RegistrationError, Registry
from mcp_revisions.protocol import Adapter
from pydantic import Field
from raw_client import RawClient, serving

DANGEROUS = [
    "mx://any/../etc/passwd",
    "mx://any/a/../../b",
    "mx://any/%2e%2e/b",
    "mx://any/a%2f..%2fb",
    "mx://any/..%5Cb",
    "mx://any//etc/passwd",
    "mx://any/%2Fetc/passwd",
    "mx://any/C:/windows",
    "mx://any/c:%5Cwindows",
    "mx://any/%5C%5Cserver",
    "mx://any/a%00b",
    "mx://one/..",
    "mx://one/%2Fetc",
    "mx://one/a%00",
    "mx://list/a/../b",
    "mx://list/a/b%2F..",
    "mx://query?name=../x",
]
HARMLESS = {
    "mx://any/a/b.txt": "a/b.txt",
    "mx://any/a..b/...": "a..b/...",
    "mx://one/a%2Fb": "a/b",
    "mx://one/.hidden": ".hidden",
    "mx://list/a/b": "['a', 'b']",
    "mx://query?name=a:b": "a:b",
}


def registry(**options: Any) -> Registry:
    made = Registry("files", "1.0")

    @made.resource("mx://any/{+path}", **options)
    def any_path(path: str) -> str:
        return path

    @made.resource("mx://one/{name}", **options)
    def one(name: str) -> str:
        return name

    @made.resource("mx://list{/names*}", **options)
    def several(names: list[str]) -> str:
        return str(names)

    @made.resource("mx://query{?name}", **options)
    def query(name: str = "") -> str:
        return name

    return made


async def test_values_that_lead_elsewhere_are_no_such_resource(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        nowhere = (await client.call("resources/read", {"uri": "mx://nowhere"})).error["code"]
        for uri in DANGEROUS:
            assert (await client.call("resources/read", {"uri": uri})).error["code"] == nowhere, uri
        for uri, value in HARMLESS.items():
            read = (await client.call("resources/read", {"uri": uri})).result["contents"]
            assert read[0]["text"] == value


async def test_a_template_may_take_any_values(adapter: Adapter) -> None:
    async with serving(registry(unsafe_values=True)) as url, RawClient(url, adapter) as client:
        for uri in [*DANGEROUS, *HARMLESS]:
            assert (await client.call("resources/read", {"uri": uri})).result["contents"], uri


def test_unsafe_values_are_for_a_template() -> None:
    def fixed() -> str:
        return "fixed"

    made = Registry("files", "1.0")
    with pytest.raises(RegistrationError, match="unsafe_values is for a template; this address has no variables"):
        made.resource("mx://fixed", unsafe_values=True)(fixed)
    with pytest.raises(RegistrationError, match="the option unsafe_values is true or false"):
        made.resource("mx://fixed/{a}", unsafe_values="yes")(fixed)  # type: ignore[typeddict-item]  # what this tests


async def test_an_empty_text_for_what_takes_none_is_the_default(adapter: Adapter) -> None:
    made = Registry("prompts", "1.0")

    @made.prompt
    def trip(
        place: str,
        nights: int = 3,
        price: float | None = None,
        by_train: bool = True,
        since: datetime.date | None = None,
        season: Literal["summer", "winter"] = "winter",
        cents: decimal.Decimal = decimal.Decimal("1.5"),
        code: Annotated[str, Field(pattern="^[a-z]+$")] = "abc",
        note: str = "none",
        more: str | None = "nothing",
    ) -> str:
        return f"{place!r} {nights} {price} {by_train} {since} {season} {cents} {code} {note!r} {more!r}"

    names = ("nights", "price", "by_train", "since", "season", "cents", "code", "note", "more")
    async with serving(made) as url, RawClient(url, adapter) as client:
        arguments = {"place": "", **dict.fromkeys(names, "")}
        result = (await client.call("prompts/get", {"name": "trip", "arguments": arguments})).result
        assert result["messages"][0]["content"]["text"] == "'' 3 None True None winter 1.5 abc '' ''"
        reply = await client.call("prompts/get", {"name": "trip", "arguments": {"place": "a", "nights": "x"}})
        assert "/nights" in reply.error["message"]


async def test_an_empty_text_for_what_must_be_given_is_wrong(adapter: Adapter) -> None:
    made = Registry("prompts", "1.0")

    @made.prompt
    def trip(nights: int) -> str:
        return str(nights)

    async with serving(made) as url, RawClient(url, adapter) as client:
        reply = await client.call("prompts/get", {"name": "trip", "arguments": {"nights": ""}})
        assert "/nights" in reply.error["message"]

"""Resources: what is listed, what is read, what is not there.

Citations: server/resources.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_anyrev import Exchange, Image, Registry, ToolError, elicit
from mcp_revisions.canonical import (
    Annotations,
    BlobResourceContents,
    ReadResourceResult,
    TextResourceContents,
)
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, request_answering, serving


def registry() -> Registry:
    made = Registry("resources", "1.0")

    @made.resource(
        "mx://note",
        name="note",
        title="The note",
        mime_type="text/plain",
        size=9,
        annotations=Annotations(priority=0.5, audience=["user"]),
        icons=[{"src": "https://a.example/i.png"}],
        meta={"example.com/k": 1},
        ttl_ms=60_000,
        cache_scope="public",
    )
    async def note() -> str:
        """A note."""
        return "note text"

    @made.resource("mx://bytes", mime_type="application/octet-stream")
    def some_bytes() -> bytes:
        return b"\x00\x00\x00\xfb\xff"

    @made.resource("mx://json")
    async def as_json() -> dict[str, int]:
        return {"a": 1}

    @made.resource("mx://several")
    async def several() -> list[TextResourceContents | BlobResourceContents]:
        return [
            TextResourceContents(uri="mx://several/1", text="one"),
            BlobResourceContents(uri="mx://several/2", blob="AAAA+/=="),
        ]

    @made.resource("mx://whole", ttl_ms=5)
    async def whole() -> ReadResourceResult:
        return ReadResourceResult(contents=[TextResourceContents(uri="mx://whole", text="w")], ttl_ms=7)

    @made.resource("mx://résumé/日本")
    async def international() -> str:
        return "uni"

    @made.resource("mx://breaks")
    async def breaks() -> str:
        raise RuntimeError("password=hunter2")

    @made.resource("mx://complains")
    async def complains() -> str:
        raise ToolError("the archive is closed")

    @made.resource("mx://no-json")
    async def no_json() -> Any:
        return object()

    @made.resource("mx://page/first")
    async def first() -> str:
        return "the first page"

    @made.resource("mx://page/{number}", title="One page")
    async def page(number: int) -> str | None:
        return f"page {number}" if number < 100 else None

    @made.resource("mx://search{?words*,limit}")
    async def search(words: list[str] = [], limit: int = 3) -> str:  # noqa: B006  # nobody changes it
        return f"{words} {limit}"

    @made.resource("mx://asks")
    async def asks(ex: Exchange) -> str:
        return "opened" if (await ex.ask("open", elicit("Open it?"))).accepted else "kept shut"

    return made


async def test_the_lists_have_what_the_revision_defines_and_no_more(adapter: Adapter) -> None:
    made = registry()
    has_templates = "resources/templates/list" in adapter.client_requests
    async with serving(made) as url, RawClient(url, adapter) as client:
        fixed = (await client.call("resources/list")).result
        shaped = (await client.call("resources/templates/list")).result if has_templates else {}
    adapter.check_result("resources/list", fixed)
    described = made.resources["mx://note"].description
    assert described["size"] == 9 and described["annotations"] == {"priority": 0.5, "audience": ["user"]}
    expected = adapter.encode_result("resources/list", {"resources": [described]}, made.server)["resources"]
    assert fixed["resources"][0] == expected[0]
    if has_templates:
        adapter.check_result("resources/templates/list", shaped)
        assert [one["uriTemplate"] for one in shaped["resourceTemplates"]] == [
            "mx://page/{number}",
            "mx://search{?words*,limit}",
        ]
    assert not {one["uri"] for one in fixed["resources"]} & {"mx://page/{number}"}


async def test_text_bytes_json_and_canonical_contents_are_read(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:

        async def read(uri: str) -> list[Any]:
            result = (await client.call("resources/read", {"uri": uri})).result
            adapter.check_result("resources/read", result)
            contents: list[Any] = result["contents"]
            return contents

        assert await read("mx://note") == [{"uri": "mx://note", "mimeType": "text/plain", "text": "note text"}]
        assert base64.b64decode((await read("mx://bytes"))[0]["blob"]) == b"\x00\x00\x00\xfb\xff"
        (as_json,) = await read("mx://json")
        assert (json.loads(as_json["text"]), as_json["mimeType"]) == ({"a": 1}, "application/json")
        assert await read("mx://several") == [
            {"uri": "mx://several/1", "text": "one"},
            {"uri": "mx://several/2", "blob": "AAAA+/=="},
        ]
        assert (await read("mx://résumé/日本"))[0]["uri"] == "mx://r%C3%A9sum%C3%A9/%E6%97%A5%E6%9C%AC"
        assert (await read("mx://r%C3%A9sum%C3%A9/%E6%97%A5%E6%9C%AC"))[0]["text"] == "uni"
        assert (await read("mx://page/first"))[0]["text"] == "the first page"
        assert (await read("mx://page/7"))[0] == {"uri": "mx://page/7", "text": "page 7"}
        assert (await read("mx://search?limit=2&words=a%26b&words=c"))[0]["text"] == "['a&b', 'c'] 2"
        assert (await read("mx://search"))[0]["text"] == "[] 3"


async def test_several_of_which_some_are_no_text_are_contents_of_their_own(adapter: Adapter) -> None:
    made = Registry("resources", "1.0")

    @made.resource("mx://mixed")
    async def mixed() -> list[str | Image | bytes]:
        return ["a text", Image(b"\x89", "image/png"), b"\x00"]

    @made.resource("mx://pieces")
    def pieces() -> Iterator[bytes]:
        yield b"\x00"
        yield b"\x01"

    @made.resource("mx://none")
    async def none() -> list[TextResourceContents]:
        return []

    async with serving(made) as url, RawClient(url, adapter) as client:

        async def read(uri: str) -> list[Any]:
            contents: list[Any] = (await client.call("resources/read", {"uri": uri})).result["contents"]
            return [{name: one[name] for name in ("text", "blob", "mimeType") if name in one} for one in contents]

        assert await read("mx://mixed") == [
            {"text": "a text"},
            {"blob": "iQ==", "mimeType": "image/png"},
            {"blob": "AA=="},
        ]
        assert await read("mx://pieces") == [{"blob": "AA=="}, {"blob": "AQ=="}]
        assert await read("mx://none") == []


async def test_how_long_a_result_may_be_kept_is_said_where_the_revision_can(adapter: Adapter) -> None:
    """server/utilities/caching#cacheable-results"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for uri, hints in (
            ("mx://note", (60_000, "public")),
            ("mx://whole", (7, adapter.cache_scope)),
            ("mx://json", (adapter.cache_lifetime, adapter.cache_scope)),
        ):
            result = (await client.call("resources/read", {"uri": uri})).result
            has = (result.get("ttlMs"), result.get("cacheScope"))
            sent = adapter.encode_result(
                "resources/read", {"contents": [], **dict(zip(("ttlMs", "cacheScope"), hints, strict=True))}, {}
            )
            assert has == (sent.get("ttlMs"), sent.get("cacheScope"))
            assert (has[0] is None) is (adapter.cache_lifetime is None)


async def test_what_is_not_there_is_an_error_with_its_address(adapter: Adapter) -> None:
    """server/resources#error-handling: never an empty list of contents."""
    absent = ("mx://absent", "mx://page/100", "mx://page/x", "mx://page/7\n", "mx://note/", "mx://search?limit=x", "")
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for uri in absent:
            reply = await client.call("resources/read", {"uri": uri})
            assert reply.error["code"] == adapter.error_codes["resource_not_found"], uri
            assert reply.error["data"] == {"uri": uri}
            assert reply.status == adapter.error_statuses["resource_not_found"]


async def test_what_a_handler_raises_stays_in_the_log(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for uri in ("mx://breaks", "mx://no-json"):
            caplog.clear()
            reply = await client.call("resources/read", {"uri": uri})
            assert reply.error["code"] == adapter.error_codes["internal_error"]
            assert "hunter2" not in json.dumps(reply.message)
            assert [record.levelno for record in caplog.records] == [logging.ERROR]
        reply = await client.call("resources/read", {"uri": "mx://complains"})
        assert reply.error["message"] == "the archive is closed"


async def test_a_resource_asks_where_the_revision_lets_it(adapter: Adapter) -> None:
    """basic/patterns/mrtr#supported-requests"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        params = {"uri": "mx://asks"}
        answers = {"Open it?": {"action": "accept", "content": {}}}
        reply = await request_answering(client, "resources/read", params, answers)
    if adapter.askable_methods.get("resources/read"):
        assert reply.result["contents"][0]["text"] == "opened"
    else:
        assert reply.error["code"] == adapter.error_codes["internal_error"]
        assert "cannot ask" in reply.error["message"]


async def test_a_server_without_resources_has_none_of_their_methods(adapter: Adapter) -> None:
    made = Registry("tools alone", "1.0")

    @made.tool
    async def one() -> str:
        return "1"

    async with serving(made) as url, RawClient(url, adapter) as client:
        for method in ("resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete"):
            reply = await client.call(method, {"uri": "u", "name": "n"})
            assert reply.error["code"] == adapter.error_codes["method_not_found"], method

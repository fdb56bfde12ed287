"""Values that no schema checks are right when they go out: keys of `_meta`, annotations, addresses, media types, Base64, text.

Citations: basic/index#_meta, server/resources#annotations, server/resources#custom-uri-schemes, server/tools#image-content,
server/prompts#image-content.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import pytest
from event_streams import listening
from mcp_anyrev import Exchange, File, Image, RegistrationError, Registry, ResourceNotFound, ToolError, elicit, sample
from mcp_anyrev.declaring.around import Invocation, Proceed
from mcp_contract import InvalidParams
from mcp_revisions import canonical
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from raw_client import RawClient, serving

BYTES = base64.b64encode(b"\x00\xff").decode()
LONE = "half a letter: \ud800"


def fine() -> str:
    return "fine"


MALFORMED = (
    "-bad",
    "bad-",
    "a b",
    "com..example/x",
    "1com.example/x",
    "com.example-/x",
    "com.example/-x",
    "/x",
    "é",
    "a/b/c",
    "x\n",
)
WELL_FORMED = ("", "x", "a.b_c-d", "com.example/", "com.example/x", "com.example.mcp/x", "openai/outputTemplate", "ui")
RESERVED = (
    "io.modelcontextprotocol/x",
    "dev.mcp/x",
    "org.modelcontextprotocol.api/x",
    "com.mcp.tools/x",
    "mcp.dev/x",
    "a.b.mcp.c/x",
)
DEFINED = ("progressToken", "traceparent")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def declare(made: Registry, how: str, **options: Any) -> None:
    if how == "tool":
        made.tool(**options)(fine)
    elif how == "prompt":
        made.prompt(**options)(fine)
    elif how == "resource":
        made.resource("a://b", **options)(fine)
    else:
        made.resource("a://{b}", **options)(lambda b: b)  # type: ignore[misc]  # as people write it


HOW = ("tool", "prompt", "resource")


class Waiting(BaseModel):
    seconds: float = math.inf


def waiting() -> Waiting:
    return Waiting(seconds=1)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("how", HOW)
def test_a_number_that_json_has_not_is_refused_where_it_would_be_listed(how: str, number: float) -> None:
    """One of them would make a whole list unreadable for every client that reads JSON as it is: basic/index#messages."""
    with pytest.raises(RegistrationError, match=r"/_meta/com\.example~1x/0 is an infinity or NaN"):
        declare(Registry("r", "1"), how, meta={"com.example/x": [number]})


def test_one_in_an_output_schema_is_named_with_its_place() -> None:
    with pytest.raises(
        RegistrationError, match=r"tool 'waiting'.*/outputSchema/properties/seconds/default is an infinity"
    ):
        Registry("r", "1").tool(waiting)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: elicit("How long?", Waiting),
        lambda: elicit("?", {"type": "object", "properties": {"x": {"type": "number", "maximum": math.inf}}}),
        lambda: sample("Hello", max_tokens=5, metadata={"x": math.inf}),
        lambda: sample("Hello", max_tokens=5, temperature=math.nan),
    ],
)
def test_one_in_a_question_is_refused_where_it_is_asked(ask: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        ask()


async def test_data_of_an_error_that_is_no_json_is_left_out(adapter: Adapter) -> None:
    made = Registry("r", "1")

    @made.prompt
    def fails() -> str:
        raise InvalidParams("not so", data={"x": math.inf})

    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.call("prompts/get", {"name": "fails"})).error.get("data") is None


async def test_bytes_that_nothing_announced_are_an_error_whatever_they_hold(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    made = Registry("r", "1")
    made.tool(name="text")(lambda: b"text")
    made.tool(name="array")(lambda: bytearray(b"text"))
    made.tool(name="other")(lambda: b"\xff")
    async with serving(made) as url, RawClient(url, adapter) as client:
        for name in ("text", "array", "other"):
            assert (await client.tool(name)).result["isError"] is True
    assert caplog.text.count("the result is bytes, which JSON has not; return an Image") == 3


@pytest.mark.parametrize("key", [*MALFORMED, *RESERVED, *DEFINED])
@pytest.mark.parametrize("how", HOW)
def test_a_key_of_declared_meta_is_well_formed_and_free(how: str, key: str) -> None:
    with pytest.raises(RegistrationError, match="of the meta is"):
        declare(Registry("r", "1"), how, meta={key: 1})


@pytest.mark.parametrize("key", WELL_FORMED)
@pytest.mark.parametrize("how", HOW)
def test_other_keys_are_taken(how: str, key: str) -> None:
    declare(Registry("r", "1"), how, meta={key: 1})


async def test_a_trace_is_sent_only_in_the_form_that_others_read(adapter: Adapter) -> None:
    """basic/index#_meta: values of these keys have the formats of W3C, where the revision defines the keys."""
    made = Registry("r", "1")

    @made.tool
    async def traced(key: str, value: Any) -> canonical.CallToolResult:
        return canonical.CallToolResult(content=[], meta={key: value})

    fitting = {
        "traceparent": TRACE,
        "tracestate": "rojo=00f067aa0ba902b7,a@b=1",
        "baggage": "userId=alice;hidden, n=%C3%A9",
    }
    async with serving(made) as url, RawClient(url, adapter) as client:
        for key, value in fitting.items():
            reply = await client.tool("traced", {"key": key, "value": value})
            assert not reply.result.get("isError", False)
            reply = await client.tool("traced", {"key": key, "value": "é"})
            assert reply.result.get("isError", False) is (key in adapter.trace_context_keys), key


@pytest.mark.parametrize(
    "annotations",
    [
        {"priority": 7},
        {"priority": -0.1},
        {"audience": ["nobody"]},
        {"audience": "user"},
        {"lastModified": "yesterday"},
        {"lastModified": 5},
    ],
)
def test_annotations_are_ones(annotations: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError, match="resource 'a://b'"):
        declare(Registry("r", "1"), "resource", annotations=annotations)


async def test_annotations_of_a_model_are_looked_at(adapter: Adapter) -> None:
    made = Registry("r", "1")
    with pytest.raises(RegistrationError, match="no time"):
        declare(made, "resource", annotations=canonical.Annotations(lastModified="soon"))
    declare(made, "resource", annotations={"priority": 1, "audience": ["user"], "lastModified": "2025-01-12T15:00:58Z"})
    async with serving(made) as url, RawClient(url, adapter) as client:
        (listed,) = (await client.call("resources/list", {})).result["resources"]
    assert listed["annotations"]["priority"] == 1 and listed["annotations"]["audience"] == ["user"]


@pytest.mark.parametrize(
    "mime_type", ["", "text", "text/", "/plain", "text/plain;", "text plain/x", "text/plain\n", "tëxt/plain"]
)
def test_a_media_type_is_one(mime_type: str) -> None:
    with pytest.raises(RegistrationError, match="is no media type"):
        declare(Registry("r", "1"), "resource", mime_type=mime_type)
    with pytest.raises(RegistrationError, match="is no media type"):
        declare(Registry("r", "1"), "tool", icons=[{"src": "https://a.example/i", "mimeType": mime_type}])


@pytest.mark.parametrize(
    "mime_type",
    ["text/plain", "text/html;profile=mcp-app", 'text/plain; charset="utf-8"', "image/svg+xml", "application/vnd.a.b"],
)
def test_other_media_types_are_taken(mime_type: str) -> None:
    declare(Registry("r", "1"), "resource", mime_type=mime_type)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Image(b"", "image/"),
        lambda: File(b"", "text"),
        lambda: File(b"", uri="no uri"),
        lambda: Image(b"", "image/a b"),
    ],
)
def test_pictures_and_files_are_looked_at_where_they_are_made(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="is no"):
        make()


@pytest.mark.parametrize(
    "uri", ["a://100%", "a://b#c#d", "a://[b", "a://b/[c]", "a://%zz/{x}", "a b://c", "no uri", "a://b:port/"]
)
def test_an_address_is_one(uri: str) -> None:
    with pytest.raises(RegistrationError):
        Registry("r", "1").resource(uri)(lambda x="": x)


@pytest.mark.parametrize("src", ["no uri at all", "", "https://a.example/é", "a.png"])
def test_an_icon_has_an_address(src: str) -> None:
    with pytest.raises(RegistrationError, match="is no URI"):
        declare(Registry("r", "1"), "tool", icons=[{"src": src}])
    with pytest.raises(RegistrationError, match="is no URI"):
        Registry("r", "1", icons=[{"src": src}])
    with pytest.raises(RegistrationError, match="is no URI"):
        Registry("r", "1", website_url=src)


@pytest.mark.parametrize("src", ["javascript:alert(1)", "file:///etc/passwd", "ftp://a.example/i", "ws://a.example/i"])
def test_an_icon_is_at_an_address_that_clients_may_follow(src: str) -> None:
    """Citation: basic/index#icons."""
    with pytest.raises(RegistrationError, match="no address of an icon"):
        declare(Registry("r", "1"), "tool", icons=[{"src": src}])
    for good in ("https://a.example/i.png", "http://a.example/i", "data:image/png;base64,AAAA"):
        declare(Registry("r", "1"), "tool", icons=[{"src": good}])


async def test_an_address_is_listed_as_a_uri_and_found_however_it_is_written(adapter: Adapter) -> None:
    made = Registry("r", "1")
    made.resource("mu://café")(fine)

    @made.resource("mu://thé/{kind}")
    async def tea(kind: str) -> str:
        return kind

    @made.completion("kind", template="mu://thé/{kind}")
    async def kinds(value: str) -> list[str]:
        return ["green"]

    async with serving(made) as url, RawClient(url, adapter) as client:
        (listed,) = (await client.call("resources/list", {})).result["resources"]
        assert listed["uri"] == "mu://caf%C3%A9"
        if "resources/templates/list" in adapter.client_requests:
            (template,) = (await client.call("resources/templates/list", {})).result["resourceTemplates"]
            assert template["uriTemplate"] == "mu://th%C3%A9/{kind}"
        for uri in ("mu://café", "mu://caf%C3%A9"):
            (contents,) = (await client.call("resources/read", {"uri": uri})).result["contents"]
            assert contents == {"uri": "mu://caf%C3%A9", "text": "fine"}
        for of in ("mu://thé/{kind}", "mu://th%C3%A9/{kind}"):
            asked = {"ref": {"type": "ref/resource", "uri": of}, "argument": {"name": "kind", "value": ""}}
            reply = await client.call("completion/complete", asked)
            assert reply.result["completion"]["values"] == ["green"]


async def test_a_change_is_told_whichever_way_the_address_is_written(session_adapter: Adapter) -> None:
    made = Registry("r", "1")
    made.resource("mu://café")(fine)
    async with serving(made) as url, RawClient(url, session_adapter) as client:
        for asked, said in (("mu://café", "mu://caf%C3%A9"), ("mu://caf%C3%A9", "mu://café")):
            await client.call("resources/subscribe", {"uri": asked})
            async with listening(client) as stream:
                made.updated(said)
                told = await stream.message()
            assert told is not None and told["params"] == {"uri": "mu://caf%C3%A9"}
            await client.call("resources/unsubscribe", {"uri": asked})


def image(**more: Any) -> canonical.ImageContent:
    return canonical.ImageContent(**{"type": "image", "data": BYTES, "mimeType": "image/png", **more})


def blob(**more: Any) -> canonical.BlobResourceContents:
    return canonical.BlobResourceContents(**{"uri": "a://b", "blob": BYTES, **more})


def link(**more: Any) -> canonical.ResourceLink:
    return canonical.ResourceLink(**{"type": "resource_link", "uri": "a://b", "name": "b", **more})


def embedded(resource: Any) -> canonical.EmbeddedResource:
    return canonical.EmbeddedResource(type="resource", resource=resource)


WRONG: dict[str, Any] = {
    "data": image(data="no base64!"),
    "unpadded": image(data="AAA"),
    "urlsafe": image(data="-_-_"),
    "lines": image(data="AAAA\nAAAA"),
    "sound": canonical.AudioContent(type="audio", data="?", mimeType="audio/wav"),
    "type": image(mimeType=""),
    "link": link(uri="no uri at all"),
    "link_type": link(mimeType="text"),
    "link_icon": link(icons=[canonical.Icon(src="icon")]),
    "blob": embedded(blob(blob="?")),
    "embedded_address": embedded(blob(uri="nowhere")),
    "embedded_type": embedded(blob(mimeType="")),
    "date": image(annotations=canonical.Annotations(lastModified="soon")),
    "surrogate": canonical.TextContent(type="text", text=LONE),
    "surrogate_in_text": LONE,
}
RIGHT: dict[str, Any] = {"image": image(), "linked": link(), "bytes": embedded(blob()), "umlaut": "ü"}


def declare_value(made: Registry, name: str, value: Any) -> None:
    made.tool(name=f"alone-{name}")(lambda: value)
    made.tool(name=f"listed-{name}")(lambda: ["first", value])
    made.prompt(name=name)(lambda: value)

    @made.tool(name=f"whole-{name}")
    async def whole() -> canonical.CallToolResult:
        block = canonical.TextContent(type="text", text=value) if isinstance(value, str) else value
        return canonical.CallToolResult(content=[block])

    @made.tool(name=f"exchanging-{name}")
    async def exchanging(ex: Exchange) -> Any:
        return [value]


async def test_what_a_handler_gives_is_an_error_where_no_client_can_read_it(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    made = Registry("r", "1")
    for name, value in (*WRONG.items(), *RIGHT.items()):
        declare_value(made, name, value)
    async with serving(made) as url, RawClient(url, adapter) as client:
        for name in (*WRONG, *RIGHT):
            for how in ("alone", "listed", "whole", "exchanging"):
                result = (await client.tool(f"{how}-{name}")).result
                assert result.get("isError", False) is (name in WRONG), (how, name)
            message = (await client.call("prompts/get", {"name": name})).message
            assert ("error" in message) is (name in WRONG), name
    assert "returned what it must not: content 1: the bytes are not in Base64" in caplog.text


@pytest.mark.parametrize(
    "value",
    [
        blob(blob="?"),
        blob(uri="nowhere"),
        blob(mimeType="x"),
        canonical.TextResourceContents(uri="a://b", text=LONE),
        LONE,
        {"a": LONE},
    ],
)
async def test_contents_of_resources_are_looked_at(adapter: Adapter, value: Any) -> None:
    made = Registry("r", "1")
    made.resource("a://b")(lambda: value)
    async with serving(made) as url, RawClient(url, adapter) as client:
        reply = await client.call("resources/read", {"uri": "a://b"})
        assert reply.error["code"] == adapter.error_codes["internal_error"]


def is_free(adapter: Adapter, key: str) -> bool:
    if key in RESERVED:
        return not adapter.reserved_meta_key(key)
    return key != "progressToken" and (key not in MALFORMED or not adapter.meta_keys_have_form)


async def test_a_key_of_given_meta_is_refused_where_the_revision_says_so(adapter: Adapter) -> None:
    made, keys = Registry("r", "1"), [*MALFORMED, *RESERVED, *WELL_FORMED, *DEFINED]

    def declare_all(place: int, key: str) -> None:
        made.tool(name=f"block{place}")(lambda: canonical.TextContent(type="text", text="t", _meta={key: TRACE}))
        made.tool(name=f"result{place}")(lambda: canonical.CallToolResult(content=[], _meta={key: TRACE}))
        made.prompt(name=f"p{place}")(lambda: canonical.GetPromptResult(messages=[], _meta={key: TRACE}))
        made.resource(f"a://{place}")(lambda: canonical.TextResourceContents(uri="a://b", text="t", _meta={key: TRACE}))

    for place, key in enumerate(keys):
        declare_all(place, key)
    async with serving(made) as url, RawClient(url, adapter) as client:
        for place, key in enumerate(keys):
            free = is_free(adapter, key)
            for name in (f"block{place}", f"result{place}"):
                assert bool((await client.tool(name)).result.get("isError")) is not free, key
            assert ("result" in (await client.call("prompts/get", {"name": f"p{place}"})).message) is free, key
            assert ("result" in (await client.call("resources/read", {"uri": f"a://{place}"})).message) is free, key


async def test_what_a_hook_puts_in_is_looked_at_as_well(adapter: Adapter) -> None:
    made = Registry("r", "1")
    made.tool(fine)

    @made.around
    async def trace(invocation: Invocation, proceed: Proceed) -> dict[str, Any]:
        return {**await proceed(invocation), "_meta": {"-bad": 1}}

    async with serving(made) as url, RawClient(url, adapter) as client:
        failed = (await client.tool("fine")).result.get("isError", False)
    assert failed is adapter.meta_keys_have_form


@pytest.mark.parametrize(
    "dialect", ["draft-04/schema#", "draft-06/schema#", "draft-07/schema#", "draft/2019-09/schema", None]
)
def test_a_schema_is_read_in_its_dialect_or_refused_with_its_name(dialect: str | None) -> None:
    """Where none is named, it is that of 2020-12, in which `prefixItems` counts."""
    head = "https" if dialect is not None and dialect.startswith("draft/") else "http"
    named = {} if dialect is None else {"$schema": f"{head}://json-schema.org/{dialect}"}
    tuple_of_one = {"type": "object", "properties": {"a": {"prefixItems": [{"type": "integer"}]}}}
    made = Registry("r", "1")
    tool = made.tool(input_schema={**named, **tuple_of_one})

    @tool
    def f(arguments: dict[str, Any]) -> str:
        return "fine"

    assert made.tools["f"].arguments.accepts({"a": ["no number"]}) is (dialect is not None)
    with pytest.raises(RegistrationError, match="dialects"):
        made.tool(name="g", input_schema={"$schema": "https://dialects.example/one", "type": "object"})(f)


def test_a_question_is_looked_at_where_it_is_made() -> None:
    for content in (
        {"type": "image", "data": "?", "mimeType": "image/png"},
        {"type": "image", "data": BYTES, "mimeType": ""},
    ):
        with pytest.raises(ValueError, match="message 0: "):
            sample([{"role": "user", "content": content}], max_tokens=1)
    with pytest.raises(ValueError, match="no URI"):
        elicit("Go there", url="https://a.example/é")


def test_text_that_cannot_be_written_is_refused_where_it_is_declared() -> None:
    for options in ({"title": LONE}, {"description": LONE}, {"meta": {"x": LONE}}):
        with pytest.raises(RegistrationError, match="no JSON"):
            declare(Registry("r", "1"), "tool", **options)
    with pytest.raises(RegistrationError, match="no JSON"):
        Registry("r", "1", instructions=LONE)


async def test_text_that_cannot_be_written_ends_nothing_else(adapter: Adapter, binding: str) -> None:
    made = Registry("r", "1")

    @made.tool
    async def words() -> str:
        raise ToolError(LONE)

    @made.tool
    async def refuses() -> str:
        raise InvalidParams(LONE, {"why": LONE})

    @made.tool
    async def missing() -> str:
        raise ResourceNotFound(LONE)

    @made.tool
    async def structured() -> dict[str, str]:
        return {"a": LONE}

    @made.tool
    async def progress(ex: Exchange) -> str:
        await ex.progress(1, message=LONE)
        return "never"

    @made.tool
    async def logs(ex: Exchange) -> str:
        await ex.log("error", LONE)
        return "fine"

    @made.tool
    async def asks(ex: Exchange) -> str:
        await ex.ask("a", elicit(LONE))
        return "never"

    made.tool(fine)
    async with serving(made, None, binding) as url, RawClient(url, adapter) as client:
        for name in ("words", "structured", "asks"):
            reply = await client.tool(name)
            assert reply.status == 200 and reply.result["isError"] is True, name
        for name in ("refuses", "missing"):
            assert "error" in (await client.tool(name)).message
        told = {"progressToken": 1, "progress": 1, "message": "m"}
        sent = adapter.encode_notification("notifications/progress", told)
        reply = await client.call("tools/call", {"name": "progress", "_meta": {"progressToken": 1}})
        assert reply.result.get("isError", False) is ("message" in sent["params"])
        await client.tool("logs")
        assert (await client.tool("fine")).text == "fine"

"""Prompts and what completes arguments.

Citations: server/prompts, server/utilities/completion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from mcp_anyrev import Exchange, Registry, elicit
from mcp_revisions.canonical import (
    AudioContent,
    BlobResourceContents,
    CompleteResult,
    CompleteResultCompletion,
    EmbeddedResource,
    GetPromptResult,
    PromptMessage,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, Field
from raw_client import RawClient, needs, request_answering, serving


class Review(BaseModel):
    language: Literal["en", "de"]
    depth: int = Field(default=1, title="Depth", description="How deep.")


def registry() -> Registry:
    made = Registry("prompts", "1.0")

    @made.prompt(title="Greeting", meta={"example.com/k": 1})
    async def greet(name: str, formal: bool = False) -> str:
        """Greets somebody."""
        return f"{'Good day' if formal else 'Hello'} {name}"

    @made.prompt
    def review(arguments: Review) -> list[PromptMessage | str | TextContent]:
        return [
            PromptMessage(role="assistant", content=TextContent(type="text", text=arguments.language)),
            f"depth {arguments.depth}",
            TextContent(type="text", text="please"),
        ]

    @made.prompt
    async def media() -> GetPromptResult:
        blocks = [
            AudioContent(type="audio", data="AAAA", mime_type="audio/wav"),
            ResourceLink(type="resource_link", uri="mx://note", name="note"),
        ]
        return GetPromptResult(description="own", messages=[PromptMessage(role="user", content=one) for one in blocks])

    @made.prompt
    async def breaks() -> str:
        raise RuntimeError("password=hunter2")

    @made.prompt
    async def wrong() -> Any:
        return 7

    @made.prompt
    async def asks(topic: str, ex: Exchange) -> str:
        return topic if (await ex.ask("go", elicit("Go ahead?"))).accepted else "nothing"

    @made.resource("mx://item/{kind}/{id}")
    async def item(kind: str, id: str) -> str:
        return f"{kind} {id}"

    @made.resource("mx://fixed")
    async def fixed() -> str:
        return "fixed"

    @made.completion("name", prompt="greet")
    async def names(value: str) -> list[str]:
        return [name for name in ("ada", "alan", "grace") if name.startswith(value)]

    @made.completion("id", template="mx://item/{kind}/{id}")
    def ids(value: str, arguments: Mapping[str, str]) -> list[str]:
        return [f"{arguments.get('kind', 'none')}{value}{number}" for number in range(250)]

    @made.completion("kind", template="mx://item/{kind}/{id}")
    async def kinds(value: str) -> CompleteResult:
        return CompleteResult(completion=CompleteResultCompletion(values=["a"], total=9, has_more=True))

    return made


async def test_the_list_names_the_arguments_and_which_are_needed(adapter: Adapter) -> None:
    needs(adapter, "prompts/list")
    made = registry()
    async with serving(made) as url, RawClient(url, adapter) as client:
        listed = (await client.call("prompts/list")).result
    adapter.check_result("prompts/list", listed)
    described = [prompt.description for prompt in made.prompts.values()]
    assert listed["prompts"] == adapter.encode_result("prompts/list", {"prompts": described}, made.server)["prompts"]
    greet, review = listed["prompts"][0], listed["prompts"][1]
    assert greet["arguments"] == [{"name": "name", "required": True}, {"name": "formal", "required": False}]
    assert review["arguments"][1]["description"] == "How deep."
    assert "arguments" not in listed["prompts"][2]


async def test_text_messages_and_whole_results_are_given(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:

        async def get(name: str, arguments: dict[str, str]) -> Any:
            result = (await client.call("prompts/get", {"name": name, "arguments": arguments})).result
            adapter.check_result("prompts/get", result)
            return result

        greeted = await get("greet", {"name": "Ada", "formal": "true"})
        assert greeted["messages"] == [{"role": "user", "content": {"type": "text", "text": "Good day Ada"}}]
        assert greeted["description"] == "Greets somebody."
        reviewed = (await get("review", {"language": "en", "depth": "3"}))["messages"]
        assert [(one["role"], one["content"]["text"]) for one in reviewed] == [
            ("assistant", "en"),
            ("user", "depth 3"),
            ("user", "please"),
        ]
        media = await get("media", {})
    assert media["description"] == "own" and len(media["messages"]) >= 2
    assert "AAAA" in json.dumps(media) and "mx://note" in json.dumps(media)


async def test_wrong_arguments_and_unknown_prompts_are_invalid_params(adapter: Adapter) -> None:
    """server/prompts#error-handling"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for params, named in (
            ({"name": "greet"}, "name"),
            ({"name": "greet", "arguments": {}}, "name"),
            ({"name": "greet", "arguments": {"name": "a", "nmae": "b"}}, "nmae"),
            ({"name": "greet", "arguments": {"name": "a", "formal": "perhaps"}}, "formal"),
            ({"name": "review", "arguments": {"language": "fr"}}, "language"),
            ({"name": "absent"}, "absent"),
        ):
            reply = await client.call("prompts/get", params)
            assert reply.error["code"] == adapter.error_codes["invalid_params"], params
            assert named in reply.error["message"]
            assert "perhaps" not in json.dumps(reply.error)


async def test_what_a_prompt_raises_stays_in_the_log(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for name in ("breaks", "wrong"):
            reply = await client.call("prompts/get", {"name": name})
            assert reply.error["code"] == adapter.error_codes["internal_error"]
            assert "hunter2" not in json.dumps(reply.message)
    assert "hunter2" in caplog.text


async def test_a_prompt_asks_where_the_revision_lets_it(adapter: Adapter) -> None:
    """basic/patterns/mrtr#supported-requests"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        params = {"name": "asks", "arguments": {"topic": "bees"}}
        answers = {"Go ahead?": {"action": "accept", "content": {}}}
        reply = await request_answering(client, "prompts/get", params, answers)
    if adapter.askable_methods.get("prompts/get"):
        assert reply.result["messages"][0]["content"]["text"] == "bees"
    else:
        assert "cannot ask" in reply.error["message"] and "messages" not in json.dumps(reply.message["error"])


async def test_completion_gets_what_is_typed_and_what_is_known(adapter: Adapter) -> None:
    needs(adapter, "completion/complete")
    async with serving(registry()) as url, RawClient(url, adapter) as client:

        async def complete(ref: dict[str, str], argument: str, value: str, **more: Any) -> Any:
            params = {"ref": ref, "argument": {"name": argument, "value": value}, **more}
            result = (await client.call("completion/complete", params)).result
            adapter.check_result("completion/complete", result)
            return result["completion"]

        prompt, template = (
            {"type": "ref/prompt", "name": "greet"},
            {"type": "ref/resource", "uri": "mx://item/{kind}/{id}"},
        )
        assert await complete(prompt, "name", "a") == {"values": ["ada", "alan"], "total": 2, "hasMore": False}
        assert await complete(prompt, "name", "z") == {"values": [], "total": 0, "hasMore": False}
        assert (await complete(prompt, "formal", "t"))["values"] == []
        many = await complete(template, "id", "x", context={"arguments": {"kind": "k"}})
        assert (len(many["values"]), many["total"], many["hasMore"]) == (100, 250, True)
        assert many["values"][0] in ("kx0", "nonex0")
        assert await complete(template, "kind", "") == {"values": ["a"], "total": 9, "hasMore": True}


async def test_completion_of_what_is_not_there_is_invalid_params(adapter: Adapter) -> None:
    needs(adapter, "completion/complete")
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for ref, argument in (
            ({"type": "ref/prompt", "name": "absent"}, "name"),
            ({"type": "ref/prompt", "name": "greet"}, "absent"),
            ({"type": "ref/resource", "uri": "mx://absent/{id}"}, "id"),
            ({"type": "ref/resource", "uri": "mx://fixed"}, "id"),
        ):
            params = {"ref": ref, "argument": {"name": argument, "value": ""}}
            reply = await client.call("completion/complete", params)
            assert reply.error["code"] == adapter.error_codes["invalid_params"], ref


async def test_arguments_of_a_prompt_are_described_by_their_annotations() -> None:
    made = Registry("described", "1.0")

    @made.prompt
    async def one(word: Annotated[str | None, Field(description="A word.")] = None) -> str:
        return word or ""

    assert made.prompts["one"].description["arguments"] == [
        {"name": "word", "description": "A word.", "required": False}
    ]


async def test_an_embedded_resource_says_of_which_type_it_is(adapter: Adapter) -> None:
    """Citation: server/prompts#embedded-resources."""
    made = Registry("prompts", "1.0")
    text = EmbeddedResource(type="resource", resource=TextResourceContents(uri="a://b", text="t"))
    blob = EmbeddedResource(type="resource", resource=BlobResourceContents(uri="a://b", blob="AAAA"))
    typed = EmbeddedResource(type="resource", resource=TextResourceContents(uri="a://b", text="t", mimeType="text/csv"))
    made.prompt(name="blocks")(lambda: [text, blob, typed])
    made.prompt(name="whole")(
        lambda: GetPromptResult(messages=[PromptMessage(role="user", content=one) for one in (text, blob, typed)])
    )
    async with serving(made) as url, RawClient(url, adapter) as client:
        for name in ("blocks", "whole"):
            messages = (await client.call("prompts/get", {"name": name})).result["messages"]
            types = [message["content"]["resource"]["mimeType"] for message in messages]
            assert types == ["text/plain", "application/octet-stream", "text/csv"]

"""Who sees what: lists, calls, completions and subscriptions agree on it, and what somebody does not see is not there for them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from mcp_anyrev import Principal, RegistrationError, Registry, Settings
from mcp_anyrev.declaring.kinds import TOOLS
from mcp_anyrev.server.core import Core
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

SCOPES = {"ada": ["read", "write"], "bob": ["read"]}


def recognise(head: Any) -> Principal | None:
    name = head.headers.get("x-principal")
    return None if name is None else Principal(name, SCOPES.get(name, []))


SETTINGS = Settings(principal=recognise, page_size=2)


def is_ada(principal: Principal | None) -> bool:
    return principal is not None and principal.name == "ada"


def cannot_tell(principal: Principal | None) -> bool:
    raise RuntimeError("the directory of users does not answer")


def registry() -> Registry:
    made, inner = Registry("views", "1.0"), Registry("inner", "1.0")

    @made.tool
    async def everybody() -> str:
        return "everybody"

    @made.tool(visible=["read"])
    async def readers() -> str:
        return "readers"

    @made.tool(visible=("read", "write"))
    async def writers() -> str:
        return "writers"

    @made.tool(visible=is_ada)
    async def only_ada() -> str:
        return "ada"

    @made.tool(visible=cannot_tell)
    async def nobody() -> str:
        return "nobody"

    @made.resource("views://open")
    async def open_to_all() -> str:
        return "open"

    @made.resource("views://secret/{id}", visible=["write"])
    async def secret(id: str) -> str:
        return id

    @made.prompt(visible=["read"])
    async def greet(name: str) -> str:
        return name

    @made.completion("name", prompt="greet")
    async def complete_name(value: str) -> list[str]:
        return ["Ada"]

    @made.completion("id", template="views://secret/{id}")
    async def complete_id(value: str) -> list[str]:
        return ["1"]

    @inner.tool(visible=["read"])
    async def inside() -> str:
        return "inside"

    made.include(inner, visible=["write"])
    return made


async def listed(client: RawClient, method: str, member: str, key: str = "name") -> list[str]:
    """All pages, and that a cursor of one view is not taken for one of another is seen elsewhere."""
    found: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        result = (await client.call(method, cursor)).result
        found += [one[key] for one in result[member]]
        if "nextCursor" not in result:
            return found
        cursor = {"cursor": result["nextCursor"]}


SEEN = {
    "ada": ["everybody", "readers", "writers", "only_ada", "inside"],
    "bob": ["everybody", "readers"],
    "eve": ["everybody"],
    None: ["everybody"],
}


@contextlib.asynccontextmanager
async def talking(url: str, adapter: Adapter, name: str | None) -> Any:
    headers = None if name is None else {"x-principal": name}
    async with RawClient(url, adapter, headers=headers) as client:
        yield client


@pytest.mark.parametrize("name", SEEN)
async def test_lists_calls_and_completions_agree(adapter: Adapter, name: str | None) -> None:
    async with serving(registry(), SETTINGS) as url, talking(url, adapter, name) as client:
        assert await listed(client, "tools/list", "tools") == SEEN[name]
        for tool in SEEN["ada"] + ["nobody"]:
            reply = await client.tool(tool)
            if tool in SEEN[name]:
                assert "result" in reply.message, tool
            else:
                assert reply.error["code"] == adapter.error_codes["invalid_params"], tool
                assert reply.error["message"] == f"there is no tool {tool!r}"
        reads, writes = "readers" in SEEN[name], "writers" in SEEN[name]
        for method, member, key, expected in (
            ("prompts/list", "prompts", "name", ["greet"] if reads else []),
            ("resources/templates/list", "resourceTemplates", "uriTemplate", ["views://secret/{id}"] if writes else []),
        ):
            if method in adapter.client_requests:
                assert await listed(client, method, member, key) == expected
        reply = await client.call("resources/read", {"uri": "views://secret/7"})
        assert ("result" in reply.message) == writes
        for ref, sees, argument in (
            ({"type": "ref/prompt", "name": "greet"}, reads, "name"),
            ({"type": "ref/resource", "uri": "views://secret/{id}"}, writes, "id"),
        ):
            params = {"ref": ref, "argument": {"name": argument, "value": ""}}
            reply = await client.call("completion/complete", params)
            completes = "completion/complete" in adapter.client_requests
            assert ("result" in reply.message) == (sees and completes), ref


async def test_a_session_subscribes_to_what_it_sees(session_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url:
        for name, sees in (("ada", True), ("bob", False)):
            async with talking(url, session_adapter, name) as client:
                reply = await client.call("resources/subscribe", {"uri": "views://secret/1"})
                assert ("result" in reply.message) == sees, name
                if not sees:
                    assert reply.error["code"] == session_adapter.error_codes["resource_not_found"]
                assert "result" in (await client.call("resources/subscribe", {"uri": "views://open"})).message


async def test_a_stream_of_changes_tells_what_its_reader_sees(result_adapter: Adapter) -> None:
    if not result_adapter.listens:
        pytest.skip("changes do not arrive on a stream that a request opens")
    made = registry()
    async with serving(made, SETTINGS) as url, talking(url, result_adapter, "bob") as client:
        heard: list[Any] = []
        done = asyncio.Event()

        async def note(message: dict[str, Any]) -> None:
            heard.append(message)
            if len(heard) == 1:
                made.updated("views://secret/1")
                made.updated("views://open")
            else:
                done.set()

        wanted = {"notifications": {"resourceSubscriptions": ["views://secret/1", "views://open"]}}
        listening = asyncio.ensure_future(client.call("subscriptions/listen", wanted, on_message=note))
        await done.wait()
        listening.cancel()
    assert heard[0]["params"]["notifications"] == {"resourceSubscriptions": ["views://open"]}
    assert [message["params"]["uri"] for message in heard[1:]] == ["views://open"]


async def test_a_cursor_of_one_view_is_none_of_another(adapter: Adapter) -> None:
    async with (
        serving(registry(), SETTINGS) as url,
        talking(url, adapter, "ada") as ada,
        talking(url, adapter, "eve") as eve,
    ):
        cursor = (await ada.call("tools/list")).result["nextCursor"]
        assert "result" in (await ada.call("tools/list", {"cursor": cursor})).message
        assert (await eve.call("tools/list", {"cursor": cursor})).error["code"] == adapter.error_codes["invalid_params"]


def test_views_are_kept_and_there_is_a_bound() -> None:
    made = registry()
    for number in range(8):
        made.tool(name=f"t{number}", visible=[f"s{number}"])(_none)
    core = Core(made, SETTINGS)
    offer = core.offer(next(iter(core.adapters.by_version.values())))
    everybody = [Principal("p", [f"s{number}" for number in range(8) if bits >> number & 1]) for bits in range(256)]
    views = {id(offer.view(principal)): offer.view(principal) for principal in everybody}
    assert offer.view(everybody[-1]) is offer.view(Principal("q", everybody[-1].scopes))
    assert len(views) == 256 and len(offer._views) <= 64  # what this tests
    assert len(offer.view(everybody[-1]).offered[TOOLS]) == 9


async def _none() -> str:
    return ""


@pytest.mark.parametrize("visible", ["admin", [1], 7])
def test_what_is_neither_scopes_nor_a_function_is_refused(visible: Any) -> None:
    with pytest.raises(
        RegistrationError, match=r"^tool '_none': visible is a list of scopes, or a function of who asks"
    ):
        Registry("wrong", "1.0").tool(visible=visible)(_none)

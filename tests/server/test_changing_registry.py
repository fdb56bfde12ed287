"""Registries that change while they are served, and registries within registries.

Citations: server/tools#list-changed-notification, server/resources#list-changed-notification.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from mcp_anyrev import Change, RegistrationError, Registry, Settings
from mcp_anyrev.declaring.kinds import TOOLS
from mcp_anyrev.server.core import Core
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


async def none() -> str:
    return "none"


async def of_id(id: str) -> str:
    return f"item {id}"


async def of_value(value: str) -> list[str]:
    return [value]


def full(name: str) -> Registry:
    made = Registry(name, "1.0")
    made.tool(name="tool")(none)
    made.resource(f"{name}://fixed")(none)
    made.resource(f"{name}://{{id}}")(of_id)
    made.prompt(name="prompt")(none)
    made.completion("id", template=f"{name}://{{id}}")(of_value)
    return made


async def names(client: RawClient, method: str, member: str) -> list[str]:
    return [one["name"] for one in (await client.call(method)).result[member]]


async def test_what_comes_later_is_offered_and_what_goes_is_not(adapter: Adapter) -> None:
    made = full("live")
    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("later")).error["code"] == adapter.error_codes["invalid_params"]
        made.tool(name="later")(none)
        made.resource("live://later")(none)
        made.prompt(name="later")(none)
        assert (await client.tool("later")).text == "none"
        assert await names(client, "tools/list", "tools") == ["tool", "later"]
        if "prompts/list" in adapter.client_requests:
            assert await names(client, "prompts/list", "prompts") == ["prompt", "later"]
        assert (await client.call("resources/read", {"uri": "live://later"})).result["contents"][0]["text"] == "none"
        made.remove_tool("later")
        made.remove_prompt("later")
        made.remove_resource("live://later")
        assert (await client.tool("later")).error["code"] == adapter.error_codes["invalid_params"]
        assert await names(client, "tools/list", "tools") == ["tool"]
        assert (await client.call("resources/read", {"uri": "live://later"})).result["contents"][0][
            "text"
        ] == "item later"
        made.remove_tool("tool")
        assert await names(client, "tools/list", "tools") == []


def test_everybody_who_watches_is_told_of_each_change_until_they_stop() -> None:
    made, told = full("watched"), list[Change]()

    def fails(change: Change) -> None:
        raise RuntimeError("not my day")

    made.watch(fails)
    stop = made.watch(told.append)
    made.tool(name="more")(none)
    made.resource("watched://more")(none)
    made.prompt(name="more")(none)
    made.remove_resource("watched://{id}")
    made.changed("tools")
    made.updated("watched://fixed")
    stop()
    made.changed("prompts")
    assert told == [
        Change("tools", None),
        Change("resources", None),
        Change("prompts", None),
        Change("resources", None),
        Change("tools", None),
        Change("updates", "watched://fixed"),
    ]
    assert not made.completions  # it went with its template
    for kind in ("updates", "completions", "x"):
        with pytest.raises(ValueError, match="is no list; lists: tools, resources, prompts"):
            made.changed(kind)


def test_of_what_a_server_does_not_have_it_tells_nothing() -> None:
    made, told = Registry("tools alone", "1.0"), list[Change]()
    made.tool(none)
    made.watch(told.append)
    made.changed("prompts")
    made.updated("mx://note")
    made.changed("tools")
    assert told == [Change("tools", None)]


def test_what_is_not_there_cannot_be_removed() -> None:
    made = full("live")
    for remove, key in ((made.remove_tool, "x"), (made.remove_prompt, "x"), (made.remove_resource, "live://x")):
        with pytest.raises(KeyError):
            remove(key)


async def test_an_included_registry_is_offered_with_its_prefix(adapter: Adapter) -> None:
    outer, inner = full("outer"), full("inner")
    outer.include(inner, prefix="in_")
    async with serving(outer) as url, RawClient(url, adapter) as client:
        assert await names(client, "tools/list", "tools") == ["tool", "in_tool"]
        if "prompts/list" in adapter.client_requests:
            assert await names(client, "prompts/list", "prompts") == ["prompt", "in_prompt"]
        assert (await client.tool("in_tool")).text == "none"
        assert (await client.call("resources/read", {"uri": "inner://7"})).result["contents"][0]["text"] == "item 7"
        ref = {"type": "ref/resource", "uri": "inner://{id}"}
        params = {"ref": ref, "argument": {"name": "id", "value": "v"}}
        if "completion/complete" in adapter.client_requests:
            assert (await client.call("completion/complete", params)).result["completion"]["values"] == ["v"]


def test_what_an_included_registry_declares_later_is_offered_too() -> None:
    outer, middle, inner, told = Registry("outer", "1.0"), Registry("middle", "1.0"), full("inner"), list[Change]()
    outer.include(middle, prefix="o.")
    middle.include(inner, prefix="m.")
    outer.watch(told.append)
    inner.tool(name="later")(none)
    inner.updated("inner://fixed")
    assert list(outer.tools) == ["o.m.tool", "o.m.later"] and list(middle.tools) == ["m.tool", "m.later"]
    assert told == [Change("tools", None), Change("updates", "inner://fixed")]
    inner.remove_tool("tool")
    inner.remove_resource("inner://{id}")
    assert list(outer.tools) == ["o.m.later"] and not outer.completions


def test_what_would_be_there_twice_is_refused_as_a_whole() -> None:
    outer, inner = full("outer"), full("inner")
    with pytest.raises(RegistrationError, match=r"^tool 'tool': there is one of this name already$"):
        outer.include(inner)
    assert list(outer.resources) == ["outer://fixed", "outer://{id}"]
    outer.include(inner, prefix="in.")
    outer.tool(name="in.taken")(none)
    with pytest.raises(RegistrationError, match=r"^tool 'in\.taken': there is one of this name already$"):
        inner.tool(name="taken")(none)
    assert "taken" not in inner.tools
    for again in (inner, outer):
        with pytest.raises(RegistrationError, match="already, or itself"):
            outer.include(again)
    with pytest.raises(RegistrationError, match="already, or itself"):
        inner.include(outer)
    with pytest.raises(RegistrationError, match=r"^tool 'in tool': a name has "):
        full("third").include(inner, prefix="in ")


def test_threads_may_declare_while_lists_are_made() -> None:
    made = Registry("threads", "1.0")
    core = Core(made, Settings())
    adapter = AdapterSet.default().by_version[AdapterSet.default().versions[0]]
    failures: list[BaseException] = []

    def declare(number: int) -> None:
        try:
            for each in range(20):
                made.tool(name=f"t{number}.{each}")(none)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=declare, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        core.offer(adapter)
    assert not failures and len(core.offer(adapter).offered[TOOLS]) == 80


def test_what_has_not_changed_is_not_made_again() -> None:
    made = full("kept")
    core = Core(made, Settings())
    adapter = AdapterSet.default().by_version[AdapterSet.default().versions[-1]]
    before: Any = core.offer(adapter).offered[TOOLS]["tool"]
    made.tool(name="later")(none)
    assert core.offer(adapter).offered[TOOLS]["tool"] is before

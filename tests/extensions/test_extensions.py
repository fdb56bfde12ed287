"""Extensions: their own where a revision has them, through resources elsewhere. Specification: basic/versioning#extension-negotiation"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_anyrev import (
    Client,
    ErrorAnswer,
    Exchange,
    Extension,
    NotOffered,
    Principal,
    RegistrationError,
    Registry,
    RequestRefused,
    Server,
)
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from pydantic_core import from_json, to_json

NAME = "com.example/recipes"
SECRET = "a secret that nobody may read"


class Entry(BaseModel):
    entry: Any
    uri: str


def kitchen() -> tuple[Registry, Extension]:
    registry = Registry("kitchen", "1.0")
    extension = Extension(NAME, {"level": 1})
    ticks = 0

    @extension.method("recipes/look", title="Look")
    def look(id: str) -> Entry:
        """Looks one up."""
        return Entry(entry=id, uri="recipe://doc")

    @extension.method("recipes/echo")
    def echo(given: Any = None, uri: str = "") -> dict[str, Any]:
        return {"given": given, "said": uri}

    @extension.method("recipes/tick", changes=True)
    def tick() -> dict[str, int]:
        nonlocal ticks
        ticks += 1
        return {"ticks": ticks}

    @extension.method("recipes/erase", changes=True, on_resources=False)
    async def erase() -> dict[str, bool]:
        return {"erased": True}

    @extension.method("recipes/secret", visible=["cook"])
    async def secret(ex: Exchange) -> dict[str, Any]:
        await ex.progress(1)
        return {"secret": SECRET}

    @extension.method("recipes/list")
    def listed() -> list[int]:
        return [1]

    @extension.resource("recipe://doc", name="doc", mime_type="text/plain")
    def doc() -> str:
        return "a doc"

    @extension.resource("recipe://soup/{name}")
    def soup(name: str) -> str:
        return f"soup {name}"

    @extension.resource("recipe://hidden", visible=["cook"])
    def hidden() -> str:
        return SECRET

    extension.notification("notifications/recipes/cooked", wanted="recipesCooked", resource="recipe://doc")
    registry.extension(extension)
    return registry, extension


@contextlib.asynccontextmanager
async def connected(adapter: Adapter, principal: Principal | None = None, **options: Any) -> AsyncIterator[Client]:
    async with Server(kitchen()[0]) as server:
        options = {"extensions": {NAME: {}}, **options}
        async with Client(lambda: server.connect(principal), adapter, **options) as client:
            await client.initialize()
            yield client


def base(adapter: Adapter) -> str:
    address = adapter.extension_address(NAME, "")
    assert address is not None
    return address


def nothing() -> dict[str, Any]:
    return {}


async def text(client: Client, uri: str) -> str:
    return str((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]


async def test_methods_give_the_same_on_every_revision(adapter: Adapter) -> None:
    async with connected(adapter) as client:
        extension = client.extension(NAME)
        assert await extension.settings() == {"level": 1}
        found = await extension.call("recipes/look", {"id": "a b"})
        assert found["entry"] == "a b"
        assert await text(client, found["uri"]) == "a doc"
        assert found["uri"].startswith("recipe://" if adapter.declares_extensions else base(adapter))
        assert [(await extension.call("recipes/tick"))["ticks"] for _ in range(2)] == [1, 2]


async def test_addresses_are_read_back_in_params_and_nowhere_else(adapter: Adapter) -> None:
    async with connected(adapter) as client:
        own = adapter.extension_address(NAME, "soup/leek") or "recipe://soup/leek"
        assert await text(client, own) == "soup leek"
        said = await client.extension(NAME).call(
            "recipes/echo", {"uri": own, "given": {"uri": own, "url": own, "list": [{"uri": "x:y"}]}}
        )
        assert said["said"] == "recipe://soup/leek"
        assert said["given"] == {"uri": own, "url": own, "list": [{"uri": "x:y"}]}


async def test_nothing_of_it_is_declared_where_there_are_no_extensions(routed_adapter: Adapter) -> None:
    async with connected(routed_adapter) as client:
        assert "extensions" not in client.description["capabilities"]
        with pytest.raises(NotOffered):
            await client.request("recipes/look", {"id": "a"})


async def test_the_manifest_tells_all_that_can_be_reached(routed_adapter: Adapter) -> None:
    async with connected(routed_adapter) as client:
        listed = {one.uri for one in await client.list_resources()}
        templates = {one.uri_template for one in await client.list_resource_templates()}
        manifest = from_json(await text(client, f"{base(routed_adapter)}manifest.json"))
        assert manifest["extension"] == NAME and manifest["settings"] == {"level": 1}
        methods = {one["method"]: one for one in manifest["methods"]}
        assert set(methods) == {"recipes/look", "recipes/echo", "recipes/tick", "recipes/list"}
        assert {name: one["changesState"] for name, one in methods.items() if one["changesState"]} == {
            "recipes/tick": True
        }
        for one in methods.values():
            assert one["uri"] in listed if "uri" in one else one["uriTemplate"] in templates
        assert methods["recipes/look"]["params"]["required"] == ["id"]
        assert {one.get("uri") or one.get("uriTemplate") for one in manifest["resources"]} == {
            f"{base(routed_adapter)}doc",
            f"{base(routed_adapter)}soup/{{name}}",
        }
        assert (await client.extension(NAME).call("recipes/tick"))[
            "ticks"
        ] == 1  # listing and reading it called nothing


async def test_a_method_that_is_kept_off_the_resources_is_not_reached_there(routed_adapter: Adapter) -> None:
    async with connected(routed_adapter) as client:
        with pytest.raises(NotOffered):
            await client.extension(NAME).call("recipes/erase")
        with pytest.raises(RequestRefused):
            await client.read_resource(f"{base(routed_adapter)}recipes/erase")


async def test_it_is_there_where_the_revision_has_methods(native_adapter: Adapter) -> None:
    async with connected(native_adapter) as client:
        assert await client.extension(NAME).call("recipes/erase") == {
            "erased": True,
            "_meta": client.description["_meta"],
        }
        listed = [one.uri for one in await client.list_resources()]
        assert listed == ["recipe://doc"]  # and nothing that stands for something else


async def test_who_did_not_declare_it_is_refused(native_adapter: Adapter) -> None:
    async with connected(native_adapter, extensions=None) as client:
        with pytest.raises(ErrorAnswer) as refused:
            await client.extension(NAME).call("recipes/tick")
    assert refused.value.kind == "missing_client_capability"
    assert refused.value.data == {"requiredCapabilities": {"extensions": {NAME: {}}}}


@pytest.mark.parametrize("params", [{}, {"id": 5}, {"id": "a", "more": 1}])
async def test_params_that_do_not_fit_are_refused(adapter: Adapter, params: Any) -> None:
    async with connected(adapter) as client:
        with pytest.raises(RequestRefused, match="recipes/look") as refused:
            await client.extension(NAME).call("recipes/look", params)
    assert refused.value.kind == "invalid_params"


async def test_what_is_no_object_is_no_result(adapter: Adapter) -> None:
    async with connected(adapter) as client:
        with pytest.raises(ErrorAnswer):
            await client.extension(NAME).call("recipes/list")


async def test_what_is_not_seen_is_not_there(adapter: Adapter) -> None:
    cook = Principal("ada", ["cook"])
    async with connected(adapter, cook) as client:
        assert (await client.extension(NAME).call("recipes/secret"))["secret"] == SECRET
    async with connected(adapter, Principal("bob")) as client:
        with pytest.raises((NotOffered, RequestRefused)):
            await client.extension(NAME).call("recipes/secret")
        for path in ("recipes/secret", "hidden"):
            with pytest.raises(RequestRefused):
                await client.read_resource(adapter.extension_address(NAME, path) or f"recipe://{path}")
        if not adapter.declares_extensions:
            assert "secret" not in await text(client, f"{base(adapter)}manifest.json")


async def test_a_notification_is_told_with_its_params_or_as_an_update(adapter: Adapter) -> None:
    registry, extension = kitchen()
    heard: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    async with Server(registry) as server:
        options: dict[str, Any] = {"extensions": {NAME: {}}, "on_notification": lambda *told: heard.put_nowait(told)}
        async with Client(server.connect, adapter, **options) as client:
            await client.initialize()
            if not adapter.declares_extensions:
                await client.subscribe(f"{base(adapter)}doc")
                extension.notify("notifications/recipes/cooked", {"dish": "soup"})
                assert await heard.get() == ("notifications/resources/updated", {"uri": f"{base(adapter)}doc"})
                return
            async with client.listen(wanted={"recipesCooked": True}):
                extension.notify("notifications/recipes/cooked", {"dish": "soup"})
                while (told := await heard.get())[0] != "notifications/recipes/cooked":
                    pass
            assert told[1]["dish"] == "soup"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=15)
@given(JSON, st.text(max_size=8))
@example({"a": "/../%2e%2e/\u2028?#{}"}, "..")
def test_any_params_survive_the_way_through_an_address(given_value: Any, uri: str) -> None:
    async def run(adapter: Adapter) -> None:
        async with connected(adapter) as client:
            said = await client.extension(NAME).call("recipes/echo", {"given": given_value, "uri": uri})
        assert to_json([said["given"], said["said"]]) == to_json([given_value, uri])

    adapters = AdapterSet.default().by_version
    oldest = adapters[AdapterSet.default().versions[-1]]
    asyncio.run(run(oldest))


PIECES = st.sampled_from(
    [
        "..",
        "/",
        "%2e%2e",
        "%2F",
        "secret",
        "hidden",
        "recipes",
        "erase",
        "{params}",
        "%7B%7D",
        "?",
        "#",
        "doc",
        "manifest.json",
        "\\",
        "%00",
        ":",
        "//",
        NAME,
    ]
)


@settings(max_examples=25)
@given(st.lists(PIECES, max_size=6))
def test_no_address_leads_out_of_what_may_be_seen(pieces: list[str]) -> None:
    async def run(adapter: Adapter) -> None:
        async with connected(adapter) as client:
            for address in (
                base(adapter) + "".join(pieces),
                base(adapter) + quote("".join(pieces)),
                "recipe://" + "".join(pieces),
            ):
                try:
                    told = await client.read_resource(address)
                except ErrorAnswer:
                    continue
                assert SECRET not in str(told) and "erased" not in str(told)

    asyncio.run(run(AdapterSet.default().by_version[AdapterSet.default().versions[-1]]))


@pytest.mark.parametrize("name", ["recipes", "/recipes", "com.example/", "-bad-./x", "", "com.example/a b", 5])
def test_a_name_is_one(name: Any) -> None:
    with pytest.raises(RegistrationError):
        Extension(name)


@pytest.mark.parametrize(
    "method", ["tools/call", "initialize", "server/discover", "sampling/createMessage", "look", "a/", "a b/c", "", 5]
)
def test_a_method_is_its_own(method: Any) -> None:
    with pytest.raises(RegistrationError, match=r"com\.example/recipes"):
        Extension(NAME).method(method)(nothing)


def test_what_clashes_is_refused_where_it_is_declared() -> None:
    registry, extension = kitchen()
    with pytest.raises(RegistrationError, match="recipes/look"):
        extension.method("recipes/look")(nothing)
    with pytest.raises(RegistrationError, match="same path"):
        extension.resource("other://doc")(nothing)
    with pytest.raises(RegistrationError, match="same path"):
        extension.resource("other://manifest.json")(nothing)
    with pytest.raises(RegistrationError, match="offered already"):
        registry.extension(Extension(NAME))
    other = Extension("com.example/other")
    other.method("recipes/look")(nothing)
    with pytest.raises(RegistrationError, match="offered already"):
        registry.extension(other)
    with pytest.raises(RegistrationError, match="notification"):
        extension.notification("recipes/cooked", wanted="x")
    with pytest.raises(ValueError, match="no notification"):
        extension.notify("notifications/recipes/burnt")


async def test_what_is_declared_later_is_offered_too(adapter: Adapter) -> None:
    registry, extension = kitchen()
    async with Server(registry) as server, Client(server.connect, adapter, extensions={NAME: {}}) as client:
        await client.initialize()

        @extension.method("recipes/later")
        def later() -> dict[str, str]:
            return {"at": "last"}

        assert (await client.extension(NAME).call("recipes/later"))["at"] == "last"

"""A kind of things that nobody foresaw: this file is all there is of it, and everything loops over its descriptor.

Citations: basic/versioning#extension-negotiation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from mcp_anyrev import Exchange, Invocation, RegistrationError, Registry, Settings
from mcp_anyrev.declaring.declared import Declared, Named, check_name
from mcp_anyrev.declaring.kinds import Announcement, Changed, Kind, Listing, Offered, Use, View, Withheld
from mcp_anyrev.declaring.signatures import read_signature
from mcp_anyrev.declaring.threads import Threads
from mcp_anyrev.declaring.visibility import conditions_of
from mcp_anyrev.explaining.report import report
from mcp_anyrev.principal import Principal
from mcp_contract import Declaration, InvalidParams, JsonObject
from mcp_revisions.protocol import Adapter
from raw_client import INFORMATION, RawClient, serving

EXTENSION = "com.example/recipes"


@dataclass(frozen=True)
class Recipe(Named):
    """A declared recipe."""

    spicy: bool


class Cooking(Use):
    __slots__ = ()

    @property
    def label(self) -> str:
        return "the recipe"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        return {"dish": await self.part.call(self.part.read(params.get("arguments", {})), exchange, threads)}


class Recipes(Kind):
    def check_params(self, method: str, params: JsonObject) -> None:
        if method == "recipes/cook" and not isinstance(params.get("name"), str):
            raise InvalidParams("name: the name of a recipe is wanted")

    def offered(self, part: Recipe, adapter: Adapter, settings: Settings) -> Offered | Withheld:
        return Withheld("it is too hot", "spicy") if part.spicy else super().offered(part, adapter, settings)

    def changed(self, offered: Offered, adapter: Adapter, sent: JsonObject) -> Iterator[Changed]:
        yield Changed("it is served cold", "nobody has a stove")

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        offered = view.indexes[self].get(params["name"])
        if offered is None:
            raise InvalidParams(f"there is no recipe {params['name']!r}")
        return Cooking(offered, params["name"])


RECIPES = Recipes(
    "recipes",
    "recipe",
    listings=(Listing("recipes/list", "recipes"),),
    methods=("recipes/cook",),
    announcements=(
        Announcement("recipes", "listChanged", "notifications/recipes/list_changed", "recipesListChanged"),
        Announcement("recipe updates", "updates", "notifications/recipes/updated", "recipeUpdates", of_one=True),
    ),
    extension=EXTENSION,
    settings={"cuisine": "any"},
)


def recipe(
    registry: Registry, function: Callable[..., Any], *, spicy: bool = False, visible: Any = None
) -> Callable[..., Any]:
    name = function.__name__
    check_name(name)
    signature = read_signature(function, None, {})
    declared: Declared = Recipe(
        key=name,
        description={"name": name, "arguments": list(signature.input_schema.get("properties", ()))},
        read=signature.read,
        call=signature.call,
        takes_exchange=signature.takes_exchange,
        asks=signature.asks,
        visible=conditions_of(visible),
        path=(registry,),
        spicy=spicy,
    )
    registry.add(RECIPES, declared)
    return function


def kitchen() -> Registry:
    made = Registry("kitchen", "1.0")

    async def soup(persons: int) -> str:
        return f"soup for {persons}"

    async def stew(ex: Exchange) -> str:
        await ex.progress(1)
        return f"stew for {ex.principal}"

    def curry() -> str:
        return "curry"

    def secret() -> str:
        return "secret"

    recipe(made, soup)
    recipe(made, stew)
    recipe(made, curry, spicy=True)
    recipe(made, secret, visible=["kitchen"])
    return made


async def lets_through(invocation: Invocation, proceed: Any) -> JsonObject:
    result: JsonObject = await proceed(invocation)
    return result


def settings() -> Settings:
    def principal(head: Any) -> Principal | None:
        name = head.headers.get("x-principal")
        return None if name is None else Principal(name, ["kitchen"] if name == "cook" else [])

    return Settings(principal=principal)


class Guest(RawClient):
    """A client that declares the extension, or not."""

    def __init__(self, url: str, adapter: Adapter, *, knows: bool = True, name: str = "guest") -> None:
        super().__init__(url, adapter, mode=None, headers={"x-principal": name})
        self.declaration = Declaration({"extensions": {EXTENSION: {}}} if knows else {}, INFORMATION)


async def names(client: RawClient) -> list[str]:
    return [one["name"] for one in (await client.call("recipes/list")).result["recipes"]]


async def test_a_revision_whose_peers_declare_extensions_has_it(result_adapter: Adapter) -> None:
    adapter, seen = result_adapter, list[tuple[str, str | None]]()
    if not adapter.declares_extensions:
        pytest.skip("it has no extensions")
    made = kitchen()

    @made.around
    async def hook(invocation: Invocation, proceed: Any) -> JsonObject:
        seen.append((invocation.method, invocation.target))
        result: JsonObject = await proceed(invocation)
        return result

    async with serving(made, settings()) as url, Guest(url, adapter) as guest, Guest(url, adapter, name="cook") as cook:
        described = (await guest.call(adapter.description_method)).result
        assert described["capabilities"]["extensions"] == {
            EXTENSION: {"cuisine": "any", "listChanged": True, "updates": True}
        }
        assert await names(guest) == ["soup", "stew"]
        assert await names(cook) == ["soup", "stew", "secret"]
        cooked = (await guest.call("recipes/cook", {"name": "soup", "arguments": {"persons": 2}})).result
        assert cooked["dish"] == "soup for 2" and cooked["resultType"] == adapter.result_type
        assert (await guest.call("recipes/cook", {"name": "stew"})).result["dish"] == "stew for guest"
        assert (await cook.call("recipes/cook", {"name": "secret"})).result["dish"] == "secret"
        for wrong in ({"name": "secret"}, {"name": "curry"}, {"name": 7}, {"name": "soup", "arguments": {}}):
            reply = await guest.call("recipes/cook", wrong)
            assert reply.error["code"] == adapter.error_codes["invalid_params"], wrong
        for cursor in (7, ["x"], "none"):
            reply = await guest.call("recipes/list", {"cursor": cursor})
            assert reply.error["code"] == adapter.error_codes["invalid_params"], cursor
        for value in (7, [7]):
            reply = await guest.call("subscriptions/listen", {"notifications": {"recipeUpdates": value}})
            assert reply.error["code"] == adapter.error_codes["invalid_params"], value
        told = asyncio.Event()
        heard: list[Any] = []

        async def note(message: dict[str, Any]) -> None:
            heard.append(message)
            if len(heard) == 1:
                made.changed("recipes")
            else:
                told.set()

        wanted = {"notifications": {"recipesListChanged": True, "toolsListChanged": True}}
        listening = asyncio.ensure_future(guest.call("subscriptions/listen", wanted, on_message=note))
        await told.wait()
        listening.cancel()
        assert heard[0]["params"]["notifications"] == {"recipesListChanged": True}
        assert heard[1]["method"] == "notifications/recipes/list_changed"
    assert ("recipes/list", None) in seen and ("recipes/cook", "soup") in seen


async def test_a_client_that_did_not_declare_it_is_told_what_is_missing(result_adapter: Adapter) -> None:
    made = kitchen()
    async with serving(made, settings()) as url, Guest(url, result_adapter, knows=False) as guest:
        for hooks in ("none", "one"):
            for method in ("recipes/list", "recipes/cook"):
                reply = await guest.call(method, {"name": "soup"})
                assert reply.error["code"] == result_adapter.error_codes["missing_client_capability"], (hooks, method)
                assert reply.error["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            made.around(lets_through)


async def test_other_revisions_do_not_have_it(session_adapter: Adapter) -> None:
    if session_adapter.declares_extensions:
        pytest.skip("it has extensions")
    async with serving(kitchen(), settings()) as url, Guest(url, session_adapter) as guest:
        reply = await guest.call("recipes/list")
        assert reply.error["code"] == session_adapter.error_codes["method_not_found"]


def test_it_is_explained(adapter: Adapter) -> None:
    things = {thing.name: thing for thing in report(kitchen(), adapter).things}
    assert {thing.kind for thing in things.values()} == {"recipe"} and len(things) == 4
    if adapter.declares_extensions:
        assert [str(note) for note in things["soup"].notes] == ["it is served cold: nobody has a stove"]
        assert str(things["secret"].notes[-1]) == "not seen by everybody: it takes the scopes kitchen"
        assert [str(note) for note in things["curry"].notes] == ["decided by spicy: it is too hot"]
    assert things["curry"].verdict == "not offered"
    assert (things["soup"].verdict == "not offered") == (not adapter.declares_extensions)


def test_it_is_included_changed_and_removed_like_any_other() -> None:
    outer, inner, told = Registry("outer", "1.0"), kitchen(), list[str]()
    outer.include(inner, prefix="k.")
    outer.watch(lambda change: told.append(change.kind))
    assert list(outer.parts(RECIPES)) == ["k.soup", "k.stew", "k.curry", "k.secret"]
    inner.changed("recipes")
    inner.remove(RECIPES, "soup")
    assert told == ["recipes", "recipes"] and "k.soup" not in outer.parts(RECIPES)
    with pytest.raises(RegistrationError, match=r"^recipe 'stew': there is one of this name already$"):
        inner.add(RECIPES, inner.parts(RECIPES)["stew"])


class Ending(BaseException):
    """Ends whatever does not hold it."""


@pytest.mark.parametrize("where", ["check_params", "use", "label", "offered", "index"])
@pytest.mark.parametrize("fault", [SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError(), Ending()], ids=repr)
async def test_whatever_it_raises_ends_nothing(
    result_adapter: Adapter, binding: str, monkeypatch: pytest.MonkeyPatch, where: str, fault: BaseException
) -> None:
    """A kind is code of the application like any other."""
    if not result_adapter.declares_extensions:
        pytest.skip("it has no extensions")

    def fail(*_: Any) -> Any:
        raise fault

    made = kitchen()

    async def burnt() -> str:
        raise RuntimeError("it is burnt")

    recipe(made, burnt)
    async with serving(made, settings(), binding) as url, Guest(url, result_adapter) as guest:
        with monkeypatch.context() as patch:
            patch.setattr(Cooking if where == "label" else Recipes, where, property(fail) if where == "label" else fail)
            if where in ("offered", "index"):

                async def toast() -> str:
                    return "toast"

                recipe(made, toast)  # so that what is offered is made again
            reply = await guest.call("recipes/cook", {"name": "burnt"})
            assert reply.error["code"] == result_adapter.error_codes["internal_error"]
        cooked = await guest.call("recipes/cook", {"name": "soup", "arguments": {"persons": 2}})
        assert cooked.result["dish"] == "soup for 2"

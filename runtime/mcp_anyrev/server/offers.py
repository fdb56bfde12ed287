"""What one revision gets of a registry, made once and again when the registry changes, and what of it one who asks sees.

Rule: whatever does not depend on the request is made here, so that a request finds it ready. What a revision does not get is kept with
the reason, so that it can be explained. Lists, calls, subscriptions and completions all go by the same view, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache
from mcp_contract import TASKS_EXTENSION, JsonObject
from pydantic_core import to_json

from mcp_anyrev.declaring.kinds import RESOURCES, Announcement, Kind, Listing, Offered, Withheld
from mcp_anyrev.declaring.visibility import Condition, holds
from mcp_anyrev.server.pages import Pages

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.methods import Method
    from mcp_anyrev.settings import Settings

_MOST_VIEWS = 64
"""How many views of one revision are kept; one more pushes out the one that was used least recently."""

_NOTHING: Mapping[str, Any] = {}


class Offer:
    """What is offered on one revision, to everybody together.

    Args:
        registry: what is declared.
        adapter: the revision.
        served: all revisions that the server serves, newest first.
        settings: how the server is run.
        earlier: what was offered before, so that what has not changed is not made again.

    Attributes:
        edition: the state of the registry that this was made of.
        adapter: the revision.
        page_size: the most things in one page of a list.
        nesting: the most objects and arrays within each other that arguments may hold.
        offered: what is offered, by kind and key, in the order of the declarations.
        withheld: what is not, by kind and key, with the reason.
        listings: the lists that there are, by the methods that ask for them, each with its kind.
        uses: the kinds whose things a method uses, by the method.
        announcements: the changes that clients can be told of, each with its kind.
        subscribing: the change of one thing of which a session can have itself told by a method, by the method.
        answers_later: may anything of it be answered later, as a task?
        capabilities: what the server declares, in canonical form.
        server: who the server is, as the revision has it.
        description: the finished result of a request that asks for a description of the server, as JSON.
        everything: the view of who sees everything.
        methods: what answers requests, by their methods; from whoever serves it.
    """

    methods: Mapping[str, Method] = MappingProxyType({})

    def __init__(
        self,
        registry: Registry,
        adapter: Adapter,
        served: tuple[str, ...],
        settings: Settings,
        earlier: Offer | None = None,
    ) -> None:
        self.edition = registry.edition
        self._settings = settings
        self.adapter = adapter
        self.page_size = settings.page_size
        self.nesting = settings.limits.nesting
        self.server = adapter.encode_implementation(registry.server)
        self.offered: dict[Kind, dict[str, Offered]] = {}
        self.withheld: dict[Kind, dict[str, Withheld]] = {}
        self.listings: dict[str, tuple[Kind, Listing]] = {}
        self.uses: dict[str, Kind] = {}
        self.announcements: list[tuple[Kind, Announcement]] = []
        self.subscribing: dict[str, Announcement] = {}
        kinds = registry.kinds
        told = announced(kinds, settings)
        for kind in kinds:
            self._add(kind, registry.parts(kind), {} if earlier is None else earlier.offered.get(kind, {}))
            if kind.is_native(adapter):
                self._add_methods(kind, told)
        self.answers_later = any(
            one.part.answers_later for offered in self.offered.values() for one in offered.values()
        )
        self.capabilities = _capabilities(registry, kinds, told)
        if self.answers_later:
            self.capabilities = _with_tasks(self.capabilities)
        described = adapter.description_result(registry.server, self.capabilities, registry.instructions, served)
        self.description = to_json(adapter.encode_result(adapter.description_method, described, self.server))
        self.everything = View(self, self.offered, self.withheld)
        self._declared = {kind: registry.parts(kind) for kind in kinds}
        parts = [part for declared in self._declared.values() for part in declared.values()]
        self._conditions = tuple(dict.fromkeys(condition for part in parts for condition in part.visible))
        self._views: LRUCache[tuple[bool, ...], View] = LRUCache(_MOST_VIEWS)

    def view(self, principal: Principal | None) -> View:
        """What one who asks sees of it; None is nobody in particular."""
        if not self._conditions:
            return self.everything
        met = tuple(holds(condition, principal) for condition in self._conditions)
        view = self._views.get(met)
        if view is None:
            view = self._views[met] = self._seen(dict(zip(self._conditions, met, strict=True)))
        return view

    def build(self) -> None:
        """Finish now the first page of every list, for who sees everything."""
        for method in self.listings:
            self.everything.finished_page(method, None)

    def _seen(self, met: Mapping[Condition, bool]) -> View:
        return View(
            self,
            {
                kind: {
                    key: one for key, one in offered.items() if all(met[condition] for condition in one.part.visible)
                }
                for kind, offered in self.offered.items()
            },
            {
                kind: {
                    key: one
                    for key, one in withheld.items()
                    if all(met[condition] for condition in self._declared[kind][key].visible)
                }
                for kind, withheld in self.withheld.items()
            },
        )

    def _add(self, kind: Kind, parts: Mapping[str, Any], earlier: Mapping[str, Offered]) -> None:
        offered, withheld = self.offered.setdefault(kind, {}), self.withheld.setdefault(kind, {})
        native = kind.is_native(self.adapter)
        for key, part in parts.items():
            known = earlier.get(key)
            if known is not None and known.part is part and known.alone == part.stands_alone:
                offered[key] = known
                continue
            made = kind.offered(part, self.adapter, self._settings) if native else _of_no_such_kind(kind)
            if isinstance(made, Withheld):
                withheld[key] = made
            else:
                offered[key] = made

    def _add_methods(self, kind: Kind, told: Collection[str]) -> None:
        self.listings |= {one.method: (kind, one) for one in kind.listings if kind.has_method(self.adapter, one.method)}
        self.uses |= {method: kind for method in kind.methods if kind.has_method(self.adapter, method)}
        for announcement in kind.announcements:
            if announcement.change in told:
                self.announcements.append((kind, announcement))
                for method in announcement.subscribing or ():
                    if kind.has_method(self.adapter, method):
                        self.subscribing[method] = announcement


class View:
    """What of an offer one who asks sees.

    Args:
        offer: the offer.
        offered: those things of it.
        withheld: what the revision does not get, of what they would see otherwise.
    """

    __slots__ = ("_finished", "_offer", "_pages", "adapter", "indexes", "nesting", "offered", "withheld")

    def __init__(
        self,
        offer: Offer,
        offered: Mapping[Kind, Mapping[str, Offered]],
        withheld: Mapping[Kind, Mapping[str, Withheld]],
    ) -> None:
        self.adapter = offer.adapter
        self.nesting = offer.nesting
        self.offered = offered
        self.withheld = withheld
        self._offer = offer
        self.indexes: Mapping[Kind, Any] = _Indexes({kind: kind.index(those) for kind, those in offered.items()})
        self._pages: dict[str, Pages] = {}
        self._finished: dict[tuple[str, str | None], bytes] = {}

    def page(self, method: str, cursor: str | None) -> JsonObject:
        """The result of a request for a list, in canonical form.

        Args:
            method: the method of the request.
            cursor: as the request has it; None for none.

        Raises:
            InvalidParams: it is no cursor of this list.
        """
        kind, listing = self._offer.listings[method]
        if method not in self._pages:
            listed = {key: one.listed for key, one in self.offered[kind].items() if listing.holds(one.part)}
            self._pages[method] = Pages(listed, self._offer.page_size)
        page = self._pages[method].page(None if cursor == "" and self.adapter.empty_cursor_ends else cursor)
        result: JsonObject = {listing.member: list(page.items)}
        return result if page.following is None else {**result, "nextCursor": page.following}

    def finished_page(self, method: str, cursor: str | None) -> bytes:
        """The same, finished as the revision has it, as JSON."""
        finished = self._finished.get((method, cursor))
        if finished is None:
            result = filled(self.adapter, method, self.page(method, cursor))
            encoded = self.adapter.encode_result(method, result, self._offer.server)
            finished = self._finished[method, cursor] = to_json(encoded)
        return finished

    def hides(self, uri: str) -> bool:
        """Is there a resource at an address, but not for who asks?"""
        whole = self._offer.everything
        return (
            self is not whole
            and self.indexes[RESOURCES].find(uri) is None
            and whole.indexes[RESOURCES].find(uri) is not None
        )


def filled(adapter: Adapter, method: str, result: JsonObject) -> JsonObject:
    """A finished result of a method that no schema knows, with what every finished result states."""
    if method in adapter.client_requests or adapter.result_type is None:
        return result
    return {"resultType": adapter.result_type, **result}


def announced(kinds: Collection[Kind], settings: Settings) -> frozenset[str]:
    """The changes that clients are told of: those that the settings name, and those that extensions bring."""
    if not settings.listen:  # what cannot be heard is not announced
        return frozenset()
    brought = {one.change for kind in kinds if kind.extension is not None for one in kind.announcements}
    return frozenset((*brought, *settings.announce))


class _Indexes(dict[Kind, Any]):
    """Indexes by kind; of a kind of which there is nothing, an empty one."""

    def __missing__(self, kind: Kind) -> Any:
        return kind.index(_NOTHING)


def _of_no_such_kind(kind: Kind) -> Withheld:
    return Withheld(f"the revision has nothing of the kind {kind.name}", None)


def _capabilities(registry: Registry, kinds: Collection[Kind], told: Collection[str]) -> JsonObject:
    """What a server declares: what it has, and what changes of it it announces. In canonical form, for all revisions."""
    capabilities: JsonObject = {}
    for kind in kinds:
        for member, declared in kind.declares(told).items():
            capabilities[member] = {**capabilities.get(member, {}), **declared}
    if any(part.takes_exchange for kind in kinds for part in registry.parts(kind).values()):
        capabilities["logging"] = {}
    return capabilities


def _with_tasks(capabilities: JsonObject) -> JsonObject:
    """What a server declares that answers some calls later, in canonical form, for all revisions."""
    tasks: JsonObject = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    return {**capabilities, "tasks": tasks, "extensions": {**capabilities.get("extensions", {}), TASKS_EXTENSION: {}}}

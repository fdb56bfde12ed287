"""Resources: listed, one by one or by template, and read.

Rule: an address is compared as an address, whichever way it is written; where several templates have it, the one that was declared
first counts.
Specification: server/resources
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, ResourceNotFound

from mcp_anyrev.declaring.changes import UPDATES
from mcp_anyrev.declaring.contents import resource_result
from mcp_anyrev.declaring.declared import written
from mcp_anyrev.declaring.kinds.kind import Announcement, Changed, Kind, Listing, Offered, Use, View, Withheld
from mcp_anyrev.declaring.resources import Resource, ResourceTemplate
from mcp_anyrev.declaring.uri_templates import is_usable, normalized

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.settings import Settings


class Addresses:
    """What resources are found by.

    Args:
        offered: those that are offered, by their keys.
    """

    __slots__ = ("_fixed", "_listed", "_moved", "_templates")

    def __init__(self, offered: Mapping[str, Offered]) -> None:
        self._listed = {written(one.part.key): one for one in offered.values()}
        self._moved = [one for one in offered.values() if one.part.placement is not None]
        self._fixed: dict[str, Offered] = {}
        self._templates: list[Offered] = []
        for one in offered.values():
            if isinstance(one.part, ResourceTemplate):
                self._templates.append(one)
            else:
                self._fixed[one.part.address] = one

    def listed(self, address: str) -> Offered | None:
        """What is listed under an address, or a template of addresses, whichever way that is written; None for nothing."""
        return self._listed.get(written(address))

    def find(self, uri: str) -> tuple[Offered, JsonObject] | None:
        """The resource at an address with the arguments of its function; None where there is none."""
        if not is_usable(uri):
            return None
        address = normalized(uri)
        fixed = self._fixed.get(address)
        if fixed is not None:
            return fixed, {}
        for one in self._templates:
            arguments = one.part.arguments_of(address)
            if arguments is not None:
                return one, arguments
        return None

    def moved(self, uri: str, adapter: Adapter) -> str:
        """The address under which a revision has what was declared at another; the same where that is so everywhere."""
        for one in self._moved:
            if one.part.placement.declares(uri):
                address: str = one.part.placement.address(uri, adapter)
                return address
        return uri

    def declared(self, uri: str, adapter: Adapter) -> str:
        """The other way round."""
        found = self.find(uri)
        if found is None or found[0].part.placement is None:
            return uri
        address: str = found[0].part.placement.original(uri, adapter)
        return address


class Reading(Use):
    """Reading a resource."""

    __slots__ = ("_values",)

    part: Resource
    target: str

    def __init__(self, offered: Offered, uri: str, values: JsonObject) -> None:
        super().__init__(offered, uri)
        self._values = values

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return "the resource"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        given = self.part.read(self._values)
        value = await self.part.call(given, exchange, threads)
        return resource_result(self.part, self.target, value, answered=exchange is not None and exchange.answered)

    def wrong(self, words: str) -> JsonObject:
        """See `Use.wrong`: the values come from the address, so it is none of these resources."""
        raise ResourceNotFound(self.target)


class Resources(Kind):
    """What is peculiar to resources."""

    def identity(self, part: Resource) -> str:
        """See `Kind.identity`: the address, whichever way it is written."""
        return part.address

    def offered(self, part: Resource, adapter: Adapter, settings: Settings) -> Offered | Withheld:
        """See `Kind.offered`: what an extension has may be found elsewhere."""
        if part.placement is None:
            return Offered(part, part.description)
        placed = part.placement.placed(part, adapter)
        if placed is None:
            return Withheld("the revision has the extension's own methods", "extension_address", otherwise=True)
        return Offered(placed, placed.description)

    def changed(self, offered: Offered, adapter: Adapter, sent: JsonObject) -> Iterator[Changed]:
        """See `Kind.changed`."""
        if offered.part.hints and adapter.cache_lifetime is None:
            yield Changed("its cache hints are left out", "a result says nothing of being kept", "cache_lifetime")

    def index(self, offered: Mapping[str, Offered]) -> Addresses:
        """See `Kind.index`."""
        return Addresses(offered)

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """See `Kind.use`."""
        uri = params["uri"]
        found = view.indexes[self].find(uri)
        if found is None:
            raise ResourceNotFound(uri)
        offered, values = found
        placement = offered.part.placement
        own = None if placement is None else placement.use(offered, uri, values, view)
        return Reading(offered, uri, values) if own is None else own


RESOURCES = Resources(
    "resources",
    "resource",
    listings=(
        Listing("resources/list", "resources", Resource),
        Listing("resources/templates/list", "resourceTemplates", ResourceTemplate, "template"),
    ),
    methods=("resources/read",),
    named_by="uri",
    capability="resources",
    announcements=(
        Announcement("resources", "listChanged", "notifications/resources/list_changed", "resourcesListChanged"),
        Announcement(
            UPDATES,
            "subscribe",
            "notifications/resources/updated",
            "resourceSubscriptions",
            of_one=True,
            subscribing=("resources/subscribe", "resources/unsubscribe"),
        ),
    ),
)

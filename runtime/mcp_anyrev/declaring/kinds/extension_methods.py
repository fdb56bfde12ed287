"""The methods of an extension, and what stands for them where a revision has none of its own.

Rule: a method does the same whichever way it is called. Its params are checked against its schema, addresses of the extension's resources
travel in the form that the client can read, in members named `uri` and nowhere else, and nothing runs but by being called.
Specification: basic/versioning#extension-negotiation
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_contract import InvalidParams, Json, JsonObject, MethodNotFound, ResourceNotFound
from pydantic_core import from_json, to_json

from mcp_anyrev.declaring.declared import written
from mcp_anyrev.declaring.kinds.kind import Kind, Offered, Use, View
from mcp_anyrev.declaring.kinds.resources import RESOURCES
from mcp_anyrev.declaring.resources import Resource, ResourceTemplate
from mcp_anyrev.declaring.results import json_text
from mcp_anyrev.declaring.returned import UnusableResult
from mcp_anyrev.declaring.uri_templates import UriTemplate, normalized
from mcp_anyrev.extent import deeper_than

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.extensions import ExtensionMethod
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange

_URI = "uri"
_PARAMS = "params"


class MethodCall(Use):
    """A call of a method.

    Args:
        offered: the method.
        name: its name.
        view: what is offered to who calls.
    """

    __slots__ = ("_view",)

    part: ExtensionMethod

    def __init__(self, offered: Offered, name: str, view: View) -> None:
        super().__init__(offered, name)
        self._view = view

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return f"the method {self.target}"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        own = {name: value for name, value in params.items() if name != "_meta"}
        return await result_of(self.part, own, self._view, exchange, threads)


async def result_of(
    method: ExtensionMethod, params: JsonObject, view: View, exchange: Exchange | None, threads: Threads
) -> JsonObject:
    """What a method gives.

    Args:
        method: the method.
        params: its params.
        view: what is offered to who calls.
        exchange: the call, for a function that takes it.
        threads: where what is not async runs.

    Raises:
        InvalidParams: the params do not fit.
        UnusableResult: it gave no JSON object.
        Exception: what its function raised.
    """
    place = deeper_than(params, view.nesting)
    if place is not None:
        raise InvalidParams(f"{place} is nested too deeply; at most {view.nesting} objects and arrays in each other")
    if not method.params.accepts(params):
        raise InvalidParams(f"{method.key}: {method.params.faults(params)}")
    value = method.returned.plain(await method.call(method.read(params), exchange, threads))
    json_text(value)  # it is JSON
    if not isinstance(value, dict):
        raise UnusableResult("the result of a method is a JSON object")
    return value


class ExtensionMethods(Kind):
    """The methods of one extension.

    Args:
        extension: its name.
        settings: what is declared of it.
    """

    def __init__(self, extension: str, settings: JsonObject) -> None:
        super().__init__(f"methods of {extension}", "method", extension=extension, settings=settings)

    def is_native(self, adapter: Adapter) -> bool:
        """See `Kind.is_native`: also where it has only resources."""
        return adapter.declares_extensions

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """See `Kind.use`."""
        offered = view.indexes[self].get(method)
        if offered is None:
            raise MethodNotFound(f"this server has no method {method!r}")
        return MethodCall(offered, method, view)


class Moved:
    """Where a resource of an extension is found; see `Placement`.

    Args:
        extension: the name of the extension.
        declared: the address, or template, as it is compared with others.
        before: how its addresses begin, up to the path.
        path: what follows the name of the extension, where it is found elsewhere.
        template: finds the values in an address as declared, where it stands for many.
    """

    def __init__(self, extension: str, declared: str, before: str, path: str, template: UriTemplate | None) -> None:
        self.extension = extension
        self._declared = declared
        self._before = before
        self._path = path
        self._template = template

    def placed(self, resource: Resource, adapter: Adapter) -> Resource | None:
        """See `Placement.placed`."""
        return at_address(resource, adapter.extension_address(self.extension, self._path))

    def declares(self, uri: str) -> bool:
        """See `Placement.declares`."""
        if self._template is None:
            return normalized(uri) == self._declared
        return self._template.match(normalized(uri)) is not None

    def address(self, uri: str, adapter: Adapter) -> str:
        """See `Placement.address`."""
        address = adapter.extension_address(self.extension, uri.removeprefix(self._before))
        return uri if address is None else address

    def original(self, uri: str, adapter: Adapter) -> str:
        """See `Placement.original`."""
        beginning = adapter.extension_address(self.extension, "")
        return uri if beginning is None else self._before + uri.removeprefix(beginning)

    def use(self, offered: Offered, uri: str, values: JsonObject, view: View) -> Use | None:
        """See `Placement.use`."""
        return None


class _Instead:
    """What stands for something that is no resource of its own; see `Placement`.

    Args:
        extension: the name of the extension.
        path: what follows it.
    """

    def __init__(self, extension: str, path: str) -> None:
        self.extension = extension
        self.path = path

    def placed(self, resource: Resource, adapter: Adapter) -> Resource | None:
        """See `Placement.placed`."""
        address = adapter.extension_address(self.extension, self.path)
        return None if address is None else at_address(resource, address)

    def declares(self, uri: str) -> bool:
        """See `Placement.declares`: nobody declared an address."""
        return False

    def address(self, uri: str, adapter: Adapter) -> str:
        """See `Placement.address`."""
        return uri

    def original(self, uri: str, adapter: Adapter) -> str:
        """See `Placement.original`."""
        return uri


class Route(_Instead):
    """A resource whose reading calls a method.

    Args:
        extension: the name of the extension.
        path: what follows it, with a variable for the params where there are any.
        method: the method.
    """

    def __init__(self, extension: str, path: str, method: ExtensionMethod) -> None:
        super().__init__(extension, path)
        self.method = method

    def use(self, offered: Offered, uri: str, values: JsonObject, view: View) -> Use | None:
        """See `Placement.use`."""
        return RoutedCall(offered, uri, values.get(_PARAMS), self.method, view)


class Manifest(_Instead):
    """A resource that tells what an extension has.

    Args:
        extension: the name of the extension.
    """

    def __init__(self, extension: str) -> None:
        super().__init__(extension, "manifest.json")

    def use(self, offered: Offered, uri: str, values: JsonObject, view: View) -> Use | None:
        """See `Placement.use`."""
        return _ReadingManifest(offered, uri, view, self.extension)


class RoutedCall(Use):
    """Reading a resource that stands for a method.

    Args:
        offered: the resource.
        uri: its address, as sent.
        params: the params as JSON text; None where there are none.
        method: the method.
        view: what is offered to who calls.
    """

    __slots__ = ("_method", "_params", "_view")

    target: str

    def __init__(self, offered: Offered, uri: str, params: str | None, method: ExtensionMethod, view: View) -> None:
        super().__init__(offered, uri)
        self._params = params
        self._method = method
        self._view = view

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return f"the method {self._method.key}"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        view, addresses = self._view, self._view.indexes[RESOURCES]
        adapter = view.adapter
        given = _with_uris(self._given(), lambda uri: addresses.declared(uri, adapter))
        result = await result_of(self._method, given, view, exchange, threads)
        told = _with_uris(result, lambda uri: addresses.moved(uri, adapter))
        return _as_text(self.target, told)

    def _given(self) -> JsonObject:
        try:
            given = {} if self._params is None else from_json(self._params, allow_inf_nan=False)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise InvalidParams(
                f"what follows the name of {self._method.key} is its params, a JSON object, percent-encoded"
            )
        return given


class _ReadingManifest(Use):
    __slots__ = ("_extension", "_view")

    target: str

    def __init__(self, offered: Offered, uri: str, view: View, extension: str) -> None:
        super().__init__(offered, uri)
        self._extension = extension
        self._view = view

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return "the manifest"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        methods, resources = [], []
        for one in self._view.offered[RESOURCES].values():
            placement = one.part.placement
            if isinstance(placement, Route) and placement.extension == self._extension:
                address = one.listed.get("uri") or one.listed["uriTemplate"]
                methods.append(
                    {**placement.method.description, "uri" if "uri" in one.listed else "uriTemplate": address}
                )
            elif isinstance(placement, Moved) and placement.extension == self._extension:
                resources.append(one.listed)
        kind = next((kind for kind in self._view.indexes if kind.extension == self._extension), None)
        told = {
            "extension": self._extension,
            "settings": {} if kind is None else kind.settings,
            "methods": methods,
            "resources": resources,
        }
        return _as_text(self.target, told)

    def wrong(self, words: str) -> JsonObject:
        """See `Use.wrong`."""
        raise ResourceNotFound(self.target)


def at_address(resource: Resource, address: str | None) -> Resource:
    """A resource, or a template, at another address; at its own where there is none."""
    if address is None:
        return resource
    listed = written(address)
    if isinstance(resource, ResourceTemplate):
        description = {**resource.description, "uriTemplate": listed}
        template = UriTemplate(address)
        return replace(resource, key=address, address=normalized(address), description=description, template=template)
    return replace(
        resource, key=address, address=normalized(address), description={**resource.description, "uri": listed}
    )


def _as_text(uri: str, told: JsonObject) -> JsonObject:
    return {"contents": [{"uri": normalized(uri), "mimeType": "application/json", "text": to_json(told).decode()}]}


def _with_uris(value: Json, moved: Any) -> Json:
    """JSON with every member named `uri` that is text as `moved` has it."""
    if isinstance(value, dict):
        return {
            name: moved(inner) if name == _URI and isinstance(inner, str) else _with_uris(inner, moved)
            for name, inner in value.items()
        }
    return [_with_uris(inner, moved) for inner in value] if isinstance(value, list) else value

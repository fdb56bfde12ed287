"""Declaring an extension: methods, notifications and resources of its own, once for every revision.

Rule: what it declares travels as its own where a revision has extensions, and through resources elsewhere; which of the two, and under
which addresses, the adapter says. A wrong declaration fails where it is made, with the name of the extension and the reason.
Specification: basic/versioning#extension-negotiation
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from mcp_contract import JsonObject, check_meta_key
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from mcp_anyrev.declaring.changes import Change
from mcp_anyrev.declaring.declared import Declared, check_options, described, given, may_ask, name_of, requirements_of
from mcp_anyrev.declaring.kinds.extension_methods import ExtensionMethods, Manifest, Moved, Route
from mcp_anyrev.declaring.kinds.kind import Announcement
from mcp_anyrev.declaring.kinds.resources import RESOURCES
from mcp_anyrev.declaring.resources import Resource, ResourceOptions, ResourceTemplate, declare_resource
from mcp_anyrev.declaring.returned import ANYTHING, Returned
from mcp_anyrev.declaring.signatures import read_signature
from mcp_anyrev.declaring.uri_templates import UriTemplate
from mcp_anyrev.declaring.visibility import Visible, conditions_of
from mcp_anyrev.errors import RegistrationError
from mcp_anyrev.schemas import JsonValidator, SchemaFault

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

Function = TypeVar("Function", bound=Callable[..., Any])

_METHOD = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//)?")
MANIFEST = "manifest.json"


class MethodOptions(TypedDict, total=False):
    """What `@extension.method(name, …)` takes.

    Attributes:
        title: a name for people.
        description: what it does; the docstring if not given.
        changes: does it change state? The manifest says so; a client that reads a resource may not expect it.
        on_resources: is it offered as a resource, where a revision has no methods of extensions? True if not given.
        visible: the scopes that it takes to see it, or a function of who asks (a `Principal`, or None) that says whether they do.
        requires: the client capabilities without which it is not run.
    """

    title: str
    description: str
    changes: bool
    on_resources: bool
    visible: Visible
    requires: Sequence[str]


@dataclass(frozen=True)
class ExtensionMethod(Declared):
    """A declared method of an extension; its key is its name.

    Attributes:
        params: checks params against the declared schema.
        returned: what its function says that it returns.
        result_schema: the schema of its results; None where it says nothing.
        changes: does it change state?
        on_resources: is it offered as a resource, where a revision has no methods of extensions?
    """

    params: JsonValidator
    returned: Returned
    result_schema: JsonObject | None
    changes: bool
    on_resources: bool


class Extension:
    """An extension that a server supports; `registry.extension(…)` offers it.

    Args:
        name: its identifier: a prefix such as `com.example/`, and a name.
        settings: what is declared of it as a server's capability; an object.
        declared_by_clients: does a client have to declare it to call its methods? One that did not is refused.

    Raises:
        RegistrationError: the name is none, or the settings are no JSON object.

    Specification: basic/versioning#extension-negotiation
    """

    def __init__(
        self, name: str, settings: Mapping[str, Any] | None = None, *, declared_by_clients: bool = True
    ) -> None:
        try:
            if not isinstance(name, str) or "/" not in name.rstrip("/"):
                raise ValueError("a name of an extension has a prefix, such as com.example/, and something behind it")
            check_meta_key(name)
            plain = dict(settings or {})
            to_json(plain)
        except (ValueError, PydanticSerializationError) as error:
            raise RegistrationError(f"extension {name!r}: {error}") from None
        self.name = name
        self.kind = ExtensionMethods(name, plain)
        """What everything that loops over kinds sees of it."""
        self.kind.declared_by_clients = declared_by_clients
        self.beside: tuple[Callable[[], AbstractAsyncContextManager[object]], ...] = ()
        """What it does beside answering, for as long as a server runs."""
        self._parts: list[tuple[Any, Declared]] = []
        self._paths: dict[str, str] = {MANIFEST: "the manifest"}
        self._registries: list[Registry] = []
        self._notifications: dict[str, str | None] = {}
        self._put(RESOURCES, self._as_resource(MANIFEST, Manifest(name), "what the extension has", None))

    def method(self, name: str, /, **options: Unpack[MethodOptions]) -> Callable[[Function], Function]:
        """Declare a method: `@extension.method("recipes/cook")`.

        The function takes its params as plain parameters or one pydantic model, and whatever else a tool's function may, but it cannot
        ask. It returns a model, a dictionary, or anything else that becomes a JSON object.

        Args:
            name: the method; parts of a path, as `recipes/cook`.
            options: see `MethodOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.
        """
        names = sys._getframe(1).f_locals

        def declare(function: Function) -> Function:
            self._declare_method(name, function, options, names)
            return function

        return declare

    def resource(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[Function], Function]:
        """Declare a resource of the extension, or resources of a template; see `Registry.resource`. Where a revision has no extensions, it
        is found under an address that begins with the extension's name.

        Args:
            uri: the address, or a template.
            options: see `ResourceOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.
        """
        names = sys._getframe(1).f_locals

        def declare(function: Function) -> Function:
            declared = declare_resource(None, uri, function, options, names)
            before = _SCHEME.match(uri)
            assert before is not None  # an address has a scheme
            path = uri[before.end() :]
            self._take(path, f"the resource {uri}")
            template = declared.template if isinstance(declared, ResourceTemplate) else None
            self._put(
                RESOURCES, replace(declared, placement=Moved(self.name, declared.address, before[0], path, template))
            )
            return function

        return declare

    def remove_resource(self, uri: str) -> None:
        """Take a resource, or a template, of it out.

        Raises:
            KeyError: there is none at this address.
        """
        removed = next((part for kind, part in self._parts if kind is RESOURCES and part.key == uri), None)
        if removed is None:
            raise KeyError(uri)
        self._parts = [(kind, part) for kind, part in self._parts if part is not removed]
        self._paths = {path: what for path, what in self._paths.items() if what != f"the resource {uri}"}
        for registry in self._registries:
            with suppress(KeyError):  # somebody has taken it out there
                registry.remove(RESOURCES, uri)

    def notification(self, method: str, *, wanted: str, resource: str | None = None) -> None:
        """Declare a notification, which `notify` sends to all who want it.

        Args:
            method: its method, beginning with `notifications/`.
            wanted: the member by which a client that listens to changes asks for it, where a revision has that.
            resource: the address of a resource of the extension that is another then; clients of older revisions that subscribed to it
                are told that.

        Raises:
            RegistrationError: it is no name of a notification, or is declared already.
        """
        if not method.startswith("notifications/") or _METHOD.fullmatch(method) is None:
            raise RegistrationError(
                f"extension {self.name!r}: {method!r} is no notification; it begins with notifications/"
            )
        if method in self._notifications:
            raise RegistrationError(f"extension {self.name!r}: the notification {method!r} is declared already")
        self._notifications[method] = resource
        self.kind.announcements = (*self.kind.announcements, Announcement(method, "", method, wanted))
        for registry in self._registries:
            registry.refresh()

    def updated(self, uri: str) -> None:
        """Say that what a resource of it holds is another now; from any task or thread."""
        for registry in self._registries:
            registry.updated(uri)

    def notify(self, method: str, params: BaseModel | Mapping[str, Any] | None = None) -> None:
        """Send a notification to all who want it, on all workers; from any task or thread.

        Args:
            method: one that was declared.
            params: its params.

        Raises:
            ValueError: it was not declared, or the params are no JSON object.
        """
        if method not in self._notifications:
            known = ", ".join(self._notifications) or "none"
            raise ValueError(f"extension {self.name!r} has no notification {method!r}; declared: {known}")
        plain = to_jsonable_python(params or {}, by_alias=True)
        if not isinstance(plain, dict):
            raise ValueError(f"the params of {method} are an object")
        for registry in self._registries:
            registry.tell(Change(method, None, (), plain))
            resource = self._notifications[method]
            if resource is not None:
                registry.updated(resource)

    def offer(self, registry: Registry) -> None:
        """Offer all that is declared, now and later, in a registry; `Registry.extension` does this.

        Raises:
            RegistrationError: a method of it is one of a revision, or of another extension, or an address is taken.
        """
        for method in (*self.kind.methods, *self._notifications):
            _check_method(self.name, method)
        others = [kind for kind in registry.kinds if kind.extension is not None]
        for kind in others:
            clash = kind.extension == self.name or set(kind.methods) & set(self.kind.methods)
            if clash:
                raise RegistrationError(
                    f"extension {self.name!r}: {kind.extension!r} is offered already, with the same name or methods"
                )
        self._registries.append(registry)
        for kind, part in self._parts:
            registry.add(kind, replace(part, path=(registry,)))

    def _declare_method(
        self, name: str, function: Callable[..., Any], options: MethodOptions, names: Mapping[str, Any]
    ) -> None:
        try:
            _check_method(self.name, name)
            name_of("method", function, {"name": name})
            check_options(options, MethodOptions.__annotations__)
            for switch in ("changes", "on_resources"):
                if not isinstance(options.get(switch, True), bool):
                    raise ValueError(f"the option {switch} is true or false")
            signature = read_signature(function, None, names)
            params = JsonValidator(signature.input_schema)
            returned = Returned(signature.returns)
            result_schema = returned.schema
        except SchemaFault as error:
            raise RegistrationError(
                f"extension {self.name!r}: method {name!r}: its schema cannot be used: {error}"
            ) from None
        except ValueError as error:
            raise RegistrationError(f"extension {self.name!r}: method {name!r}: {error}") from None
        if name in self.kind.methods:
            raise RegistrationError(f"extension {self.name!r}: the method {name!r} is declared already")
        self._take(name, f"the method {name}")
        told = given({"params": signature.input_schema, "result": result_schema})
        method = ExtensionMethod(
            key=name,
            description={
                "method": name,
                **described(function, options),
                **told,
                "changesState": options.get("changes", False),
            },
            read=signature.read,
            call=signature.call,
            takes_exchange=signature.takes_exchange,
            asks=may_ask(signature, {"asks": False}),
            visible=conditions_of(options.get("visible")),
            requires=requirements_of(options),
            path=(),
            params=params,
            returned=returned,
            result_schema=result_schema,
            changes=options.get("changes", False),
            on_resources=options.get("on_resources", True),
        )
        self.kind.methods = (*self.kind.methods, name)
        self._put(self.kind, method)
        if method.on_resources:
            taken = bool(signature.input_schema.get("properties"))
            path = f"{name}/{{params}}" if taken else name
            words = method.description.get("description") or f"calls {name}"
            self._put(RESOURCES, self._as_resource(path, Route(self.name, path, method), words, method))

    def _as_resource(self, path: str, placement: Any, words: str, method: ExtensionMethod | None) -> Resource:
        """What stands for something that is no resource of its own, in the form that it is declared in."""
        template = UriTemplate(f"x:{path}") if "{" in path else None
        key = f"extension:{self.name}/{path}"
        declared: dict[str, Any] = {
            "key": key,
            "description": {
                "uri" if template is None else "uriTemplate": key,
                "name": f"{self.name} {path.partition('/{')[0]}",
                "description": words,
                "mimeType": "application/json",
            },
            "read": dict,
            "call": _nothing,
            "takes_exchange": method is not None and method.takes_exchange,
            "asks": False,
            "visible": () if method is None else method.visible,
            "requires": () if method is None else method.requires,
            "path": (),
            "address": key,
            "mime_type": "application/json",
            "returned": ANYTHING,
            "hints": {},
            "placement": placement,
        }
        if template is None:
            return Resource(**declared)
        return ResourceTemplate(**declared, template=template, optional=frozenset(), unsafe_values=True)

    def _take(self, path: str, what: str) -> None:
        """See that something has a path of its own, as older clients find it."""
        if path in self._paths:
            raise RegistrationError(f"extension {self.name!r}: {what} has the same path as {self._paths[path]}: {path}")
        self._paths[path] = what

    def _put(self, kind: Any, part: Any) -> None:
        self._parts.append((kind, part))
        for registry in self._registries:
            registry.add(kind, replace(part, path=(registry,)))


async def _nothing(*given: Any) -> None:
    """What a resource gives that is used in another way."""


def _check_method(extension: str, method: str) -> None:
    """See that a method can be an extension's own.

    Raises:
        RegistrationError: it is none, or a revision has it.
    """
    from mcp_revisions import VERSIONS, AdapterSet

    if not isinstance(method, str) or _METHOD.fullmatch(method) is None:
        raise RegistrationError(
            f"extension {extension!r}: {method!r} is no method; one has parts of a path, such as recipes/cook"
        )
    for adapter in AdapterSet(VERSIONS).by_version.values():
        tables = (
            adapter.client_requests,
            adapter.server_requests,
            adapter.embedded_requests,
            adapter.client_notifications,
            adapter.server_notifications,
        )
        if any(method in table for table in tables):
            raise RegistrationError(f"extension {extension!r}: {method!r} is a method of {adapter.version}")

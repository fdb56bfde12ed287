"""Declaring a resource, at one address or at all addresses of a template.

Rule: a wrong declaration fails where it is made, with the address and the reason.
Specification: server/resources#resource, server/resources#resource-templates
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from mcp_contract import JsonObject
from pydantic import BaseModel

from mcp_anyrev.declaring.declared import (
    Declared,
    Icons,
    check_address,
    check_options,
    checked_annotations,
    described,
    given,
    may_ask,
    name_of,
    requirements_of,
    written,
)
from mcp_anyrev.declaring.returned import Returned
from mcp_anyrev.declaring.signatures import Signature, read_signature
from mcp_anyrev.declaring.uri_templates import UriTemplate, is_safe, normalized
from mcp_anyrev.declaring.visibility import Visible, conditions_of
from mcp_anyrev.errors import RegistrationError

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.kinds.kind import Offered, Use, View
    from mcp_anyrev.declaring.registry import Registry

_SCOPES = ("public", "private")


class ResourceOptions(TypedDict, total=False):
    """What `@registry.resource(uri, …)` takes.

    Attributes:
        name: the name, if not the function's.
        title: a name for people.
        description: what it is; the docstring if not given.
        mime_type: of the contents; `text/plain` or `application/octet-stream` is not assumed.
        size: of the contents in bytes; not for a template.
        annotations: for whom it is and how important, as a canonical `Annotations` model or a JSON object.
        icons: pictures, as canonical `Icon` models or JSON objects.
        meta: what is listed as its `_meta`.
        ttl_ms: for how many milliseconds a client may keep what it has read. Neither this nor `cache_scope` holds for what depends on
            answers: only a `ReadResourceResult` of the function's own can say that it may be kept.
        cache_scope: `public` where whoever passes it on may keep it for everybody.
        unsafe_values: give the function also values of a template's variables that hold a `..` between slashes, begin as an absolute
            path does, or hold NUL; without it there is no such resource.
        visible: the scopes that it takes to see it, or a function of who asks (a `Principal`, or None) that says whether they do.
        asks: false for a function that takes the exchange only to report, and never asks.
        requires: the client capabilities without which it is not run, such as `"sampling"` or `"sampling.tools"`; a client that did not
            declare one is refused before anything runs.
    """

    name: str
    title: str
    description: str
    mime_type: str
    size: int
    annotations: BaseModel | JsonObject
    icons: Icons
    meta: JsonObject
    ttl_ms: int
    cache_scope: Literal["public", "private"]
    unsafe_values: bool
    visible: Visible
    asks: bool
    requires: Sequence[str]


class Placement(Protocol):
    """Where a resource that an extension has is found, which depends on the revision."""

    def placed(self, resource: Resource, adapter: Adapter) -> Resource | None:
        """The resource as a revision has it; None where it has none of this."""
        ...

    def declares(self, uri: str) -> bool:
        """Is this the address as it was declared, or one of those that the declared template stands for?"""
        ...

    def address(self, uri: str, adapter: Adapter) -> str:
        """Such an address as a revision has it."""
        ...

    def original(self, uri: str, adapter: Adapter) -> str:
        """The other way round."""
        ...

    def use(self, offered: Offered, uri: str, values: JsonObject, view: View) -> Use | None:
        """What reading it is; None for what it is of any resource."""
        ...


@dataclass(frozen=True)
class Resource(Declared):
    """A declared resource; its key is its address.

    Attributes:
        address: the address, or template of addresses, as it is compared with others.
        mime_type: of its contents, if that was said.
        returned: what its function says that it returns.
        hints: what a result says of being kept, in canonical form.
        placement: where it is found, where that depends on the revision.
    """

    address: str
    mime_type: str | None
    returned: Returned
    hints: JsonObject
    placement: Placement | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class ResourceTemplate(Resource):
    """All resources of a template, declared together; its key is the template.

    Attributes:
        template: finds the values in an address.
        optional: the variables that an address need not have.
        unsafe_values: does its function get values that could lead elsewhere as part of a path?
    """

    template: UriTemplate
    optional: frozenset[str]
    unsafe_values: bool

    @property
    def completed_arguments(self) -> list[str]:
        """See `Declared.completed_arguments`."""
        return [variable.name for variable in self.template.variables]

    def arguments_of(self, address: str) -> JsonObject | None:
        """What its function gets for an address; None where the address is none of its own.

        Args:
            address: a normalized address.
        """
        values = self.template.match(address)
        if values is None:
            return None
        for variable in self.template.variables:
            if variable.name not in values and variable.name not in self.optional:
                return None
        if not self.unsafe_values:
            for value in values.values():
                if not all(map(is_safe, [value] if isinstance(value, str) else value)):
                    return None
        return dict(values)


def declare_resource(
    registry: Registry | None,
    uri: str,
    function: Callable[..., Any],
    options: ResourceOptions,
    local_names: Mapping[str, Any],
) -> Resource:
    """An address or a template, a function and its options → a resource.

    Args:
        registry: where it is declared; None for in none yet.
        uri: the address, or the template with variables in braces.
        function: gives the contents.
        options: see `ResourceOptions`.
        local_names: what annotations may refer to beside the module's names.

    Raises:
        RegistrationError: it cannot be served as declared.
    """
    try:
        check_address(uri)
        _check_options(options)
        template = UriTemplate(uri) if "{" in uri or "}" in uri else None
        if template is not None and "size" in options:
            raise ValueError("the resources of a template have no common size")
        if template is None and "unsafe_values" in options:
            raise ValueError("unsafe_values is for a template; this address has no variables")
        signature = read_signature(function, None, local_names)
        returned = Returned(signature.returns)
        returned.check(takes_bytes=True)
        optional = _check_parameters(signature, template)
        annotations = checked_annotations(options["annotations"]) if "annotations" in options else None
    except ValueError as error:
        raise RegistrationError(f"resource {uri!r}: {error}") from None
    told = {
        "uri" if template is None else "uriTemplate": written(uri),
        "name": name_of("resource", function, options),
        **described(function, options),
        "mimeType": options.get("mime_type"),
        "size": options.get("size"),
        "annotations": annotations,
    }
    declared: dict[str, Any] = {
        "key": uri,
        "description": given(told),
        "read": signature.read,
        "call": signature.call,
        "takes_exchange": signature.takes_exchange,
        "asks": may_ask(signature, options),
        "visible": conditions_of(options.get("visible")),
        "requires": requirements_of(options),
        "path": () if registry is None else (registry,),
        "address": normalized(uri),
        "mime_type": options.get("mime_type"),
        "returned": returned,
        "hints": given({"ttlMs": options.get("ttl_ms"), "cacheScope": options.get("cache_scope")}),
    }
    if template is None:
        return Resource(**declared)
    unsafe = options.get("unsafe_values", False)
    return ResourceTemplate(**declared, template=template, optional=optional, unsafe_values=unsafe)


def _check_options(options: ResourceOptions) -> None:
    check_options(options, ResourceOptions.__annotations__)
    for option in ("size", "ttl_ms"):
        number = options.get(option, 0)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise ValueError(f"the option {option} is a whole number from 0 on")
    if not isinstance(options.get("unsafe_values", False), bool):
        raise ValueError("the option unsafe_values is true or false")
    if options.get("cache_scope", "public") not in _SCOPES:
        raise ValueError(f"the cache_scope is one of {', '.join(_SCOPES)}")
    if not isinstance(options.get("annotations", {}), BaseModel | dict):
        raise ValueError("the annotations are an object")


def _check_parameters(signature: Signature, template: UriTemplate | None) -> frozenset[str]:
    """See that the function takes exactly what the address holds; gives what an address may leave out."""
    taken: JsonObject = signature.input_schema.get("properties", {})
    if template is None:
        if taken:
            raise ValueError(f"its function takes {', '.join(taken)}, but the address has no variables")
        return frozenset()
    required = signature.input_schema.get("required", ())
    held = {variable.name: variable for variable in template.variables}
    for name in taken:
        if name not in held and name in required:
            raise ValueError(f"its function takes {name}, which is no variable of the template")
    for name, variable in held.items():
        if name not in taken:
            raise ValueError(f"its function does not take the variable {name}")
        if variable.many != (taken[name].get("type") == "array"):
            wanted = "a list, since the variable has a *" if variable.many else "one value, since the variable has no *"
            raise ValueError(f"the parameter {name} takes {wanted}")
    return frozenset(name for name, variable in held.items() if variable.optional and name not in required)

"""Parameters of a tool that are repeated in headers: which they are, what the headers say, and whether they bear out the call.

Rule: an annotation counts only where a chain of `properties` leads to it; anywhere else it makes the tool invalid.
Specification: basic/transports/streamable-http#custom-headers-from-tool-parameters
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from mcp_contract.errors import HeaderMismatch
from mcp_contract.frames import member
from mcp_contract.header_values import decode_header_value, encode_header_value
from mcp_contract.messages import Json, JsonObject

ANNOTATION = "x-mcp-header"

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")


class HeaderParameter(NamedTuple):
    """One annotated parameter.

    Attributes:
        path: the members that lead to it from the arguments.
        name: what the name of the header ends with, behind what all such headers begin with.
        type: string, integer or boolean.
    """

    path: tuple[str, ...]
    name: str
    type: str


class InvalidAnnotation(ValueError):
    """An annotation that makes its tool invalid; the text names its JSON pointer and the rule."""


def header_parameters(schema: JsonObject) -> tuple[HeaderParameter, ...]:
    """The annotated parameters of an input schema.

    Args:
        schema: an input schema.

    Raises:
        InvalidAnnotation: one stands where none may, has a name that no header can have, a name given twice, or a type that
            cannot be repeated.
    """
    found: list[HeaderParameter] = []
    names: set[str] = set()
    for pointer, path, annotated in _annotated(schema, "#", ()):
        name = annotated[ANNOTATION]
        if path is None:
            raise InvalidAnnotation(f"{pointer}: {ANNOTATION} may stand only where properties alone lead")
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidAnnotation(
                f"{pointer}: {ANNOTATION} is {name!r}; allowed: a name of visible ASCII without separators"
            )
        if name.lower() in names:
            raise InvalidAnnotation(f"{pointer}: {ANNOTATION} {name!r} is given twice; upper and lower case are one")
        kind = _primitive(annotated.get("type"))
        if kind is None:
            declared = f"type {annotated['type']!r}" if "type" in annotated else "a schema without a type of its own"
            raise InvalidAnnotation(f"{pointer}: {ANNOTATION} on {declared}; allowed: {', '.join(_TYPES)}")
        names.add(name.lower())
        found.append(HeaderParameter(path, name, kind))
    return tuple(found)


def param_headers(arguments: JsonObject, schema: JsonObject, prefix: str | None) -> dict[str, str]:
    """The headers that a call sends.

    Args:
        arguments: those of the call.
        schema: the tool's input schema.
        prefix: what the names of such headers begin with.

    Returns:
        One header for each annotated parameter with a value that is not null.

    Raises:
        InvalidAnnotation: see `header_parameters`.
        LookupError: the revision has no such headers.
    """
    if prefix is None:
        raise LookupError("the revision has no name for headers of parameters")
    values = ((parameter, member(arguments, *parameter.path)) for parameter in header_parameters(schema))
    return {
        prefix + parameter.name: encode_header_value(_text(value)) for parameter, value in values if value is not None
    }


def check_param_headers(
    headers: Mapping[str, str], arguments: JsonObject, schema: JsonObject, prefix: str | None
) -> None:
    """See that the headers bear out the arguments.

    Args:
        headers: the request's headers, names in lower case.
        arguments: those of the call.
        schema: the tool's input schema.
        prefix: what the names of such headers begin with.

    Raises:
        HeaderMismatch: a header is missing, cannot be read, says something else, or stands for a value that is not there.
        LookupError: the revision has no such headers.
    """
    if prefix is None:
        raise LookupError("the revision has no name for headers of parameters")
    for path, name, kind in header_parameters(schema):
        value, header = member(arguments, *path), prefix + name
        sent = headers.get(header.lower())
        if value is None:
            if sent is not None:
                raise HeaderMismatch(f"the header {header} stands for {'.'.join(path)}, which has no value in the body")
            continue
        if sent is None:
            raise HeaderMismatch(f"the header {header} is missing; the body has a value for {'.'.join(path)}")
        try:
            said = decode_header_value(sent)
        except ValueError as error:
            raise HeaderMismatch(f"the header {header} cannot be read: {error}") from None
        if not _same(said, value, kind):
            raise HeaderMismatch(f"the header {header} says {said!r}; the body says {_text(value)!r}")


def _annotated(
    schema: Json, pointer: str, path: tuple[str, ...] | None
) -> Iterator[tuple[str, tuple[str, ...] | None, JsonObject]]:
    """Every schema with an annotation; the path is None where something else than `properties` leads there."""
    if isinstance(schema, list):
        for place, item in enumerate(schema):
            yield from _annotated(item, f"{pointer}/{place}", None)
    if not isinstance(schema, dict):
        return
    if ANNOTATION in schema:
        yield pointer, path if path else None, schema
    for keyword, inner in schema.items():
        if keyword == "properties" and isinstance(inner, dict):
            for name, child in inner.items():
                yield from _annotated(child, f"{pointer}/properties/{name}", None if path is None else (*path, name))
        elif keyword in ("$defs", "definitions", "patternProperties", "dependentSchemas") and isinstance(inner, dict):
            for name, child in inner.items():
                yield from _annotated(child, f"{pointer}/{keyword}/{name}", None)
        elif keyword not in ("const", "enum", "default", "examples"):
            yield from _annotated(inner, f"{pointer}/{keyword}", None)


def _primitive(declared: Json) -> str | None:
    """The type as one word; a nullable type counts as what it is otherwise."""
    kinds = [kind for kind in declared if kind != "null"] if isinstance(declared, list) else [declared]
    return kinds[0] if len(kinds) == 1 and kinds[0] in _TYPES else None


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _same(said: str, value: Json, kind: str) -> bool:
    if said == _text(value):
        return True
    if kind != "integer" or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Not as floats, in which large integers that differ are the same.
    return _NUMBER.fullmatch(said) is not None and Decimal(said) == value

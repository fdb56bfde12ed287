"""Forms: what any client can show, and the older way, with names of choices in a list beside the values.

Rule: a form is flat, and each member asks for one text, number, yes or no, or for choices, and for no secret. What the person sees and what the answer may
be stay the same in the older way; what that cannot say is refused, not left out.
Specification: client/elicitation#requested-schema, client/elicitation#user-interaction-model
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from mcp_contract.errors import CannotAsk
from mcp_contract.messages import Json, JsonObject

_SECRET = "password"
"""The format of what nobody else is to see."""

_PLAIN: Mapping[str, type | tuple[type, ...]] = MappingProxyType(
    {"string": str, "number": (int, float), "integer": int, "boolean": bool}
)
"""The types of members that ask for one value, each with what a value of it is in Python."""

_APPLYING = (
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "contains",
    "prefixItems",
    "unevaluatedItems",
)
"""The keywords that bring in other schemas, besides `properties` and `items`."""


_OF_FORM = ("$schema", "type", "properties", "required")
_OF_ANY = ("type", "title", "description", "default")
_OF_CHOICES = (*_OF_ANY, "enum", "enumNames", "oneOf")
_OF_MEMBER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "string": (*_OF_ANY, "minLength", "maxLength", "format"),
        "number": (*_OF_ANY, "minimum", "maximum"),
        "integer": (*_OF_ANY, "minimum", "maximum"),
        "boolean": _OF_ANY,
        "array": (*_OF_ANY, "items", "minItems", "maxItems"),
    }
)
"""The keywords that a client knows: of a form, of a member that asks for choices among texts, and of one by its type."""


def as_shown(form: JsonObject, formats: Collection[str]) -> JsonObject:
    """A form with what a client knows of it: what says more of a value than that is left out, since an answer is held against the whole.

    Args:
        form: a form that clients can show.
        formats: the formats of text that there are.
    """
    members = form.get("properties")
    if not isinstance(members, Mapping):
        return form
    shown = {name: _shown(member, formats) for name, member in members.items()}
    return {key: value for key, value in form.items() if key in _OF_FORM} | {"properties": shown}


def _shown(member: Json, formats: Collection[str]) -> Json:
    kind = member.get("type") if isinstance(member, dict) else None
    if not isinstance(member, dict) or not isinstance(kind, str) or kind not in _OF_MEMBER:
        return member
    keywords = _OF_CHOICES if kind == "string" and ("enum" in member or "oneOf" in member) else _OF_MEMBER[kind]
    return {key: value for key, value in member.items() if key in keywords and (key != "format" or value in formats)}


def unshowable(form: JsonObject, formats: Collection[str]) -> str | None:
    """What of a form no client can show.

    Args:
        form: a JSON Schema with an object of properties.
        formats: the formats of text that a client knows.

    Returns:
        The member and why, in words for who wrote the form; None where any client can show all of it.
    """
    for keyword in (*_APPLYING, "additionalProperties"):
        if keyword in form and not isinstance(form[keyword], bool):
            return f"it is composed with {keyword}; a form lists its members"
    members = form["properties"]
    for name, member in members.items():
        reason = _unshowable_member(member, formats)
        if reason is not None:
            return f"the member {name!r} {reason}"
    for name in form.get("required", ()):
        if name not in members:
            return f"the member {name!r} is required, and is not among its properties"
    return None


def _unshowable_member(member: Json, formats: Collection[str]) -> str | None:
    if not isinstance(member, dict):
        return "is no schema with a type"
    if member.get("writeOnly") or member.get("format") == _SECRET:
        return "is a secret, which must not pass through a client; ask for it at an address (url)"
    kind = member.get("type")
    composed = next((keyword for keyword in _APPLYING if keyword in member), None)
    if composed is not None and not (composed == "oneOf" and kind == "string"):
        return f"is composed with {composed}; it can ask for one text, number, yes or no, or for choices"
    if kind == "object" or "properties" in member:
        return "is nested; a form is flat"
    if kind == "array":
        return _unshowable_choices(member)
    if not isinstance(kind, str) or kind not in _PLAIN:
        return f"has not one of the types {', '.join(_PLAIN)}, array"
    if "oneOf" in member and not _titled(member["oneOf"]):
        return 'has a oneOf that is no list of {"const": text, "title": text}'
    if kind == "string" and not all(isinstance(one, str) for one in member.get("enum", ())):
        return "is text, and one of its choices is none"
    if "format" in member and (kind != "string" or member["format"] not in formats):
        return f"has the format {member['format']!r}; there are {', '.join(formats)}, for text"
    if "default" in member and not _is_plain(member["default"], kind):
        return f"has a default that is no {kind}"
    return None


def _unshowable_choices(member: JsonObject) -> str | None:
    items = member.get("items")
    if not isinstance(items, dict):
        return "is a list without choices; its items are an enum of texts, or an anyOf of titled constants"
    chosen = items.get("enum")
    plain = isinstance(chosen, list) and items.get("type") == "string" and all(isinstance(one, str) for one in chosen)
    titled = _titled(items.get("anyOf"))
    if plain == titled or any(keyword in items for keyword in _APPLYING if keyword != "anyOf"):
        return (
            "is a list of something else than choices; its items are an enum of texts, or an anyOf of titled constants"
        )
    default = member.get("default", [])
    if not isinstance(default, list) or not all(isinstance(one, str) for one in default):
        return "has a default that is no list of texts"
    return None


def _titled(choices: Json) -> bool:
    return (
        isinstance(choices, list)
        and bool(choices)
        and all(
            isinstance(one, dict) and isinstance(one.get("const"), str) and isinstance(one.get("title"), str)
            for one in choices
        )
    )


def _is_plain(value: Json, kind: str) -> bool:
    return isinstance(value, _PLAIN[kind]) and isinstance(value, bool) == (kind == "boolean")


def with_names_beside_values(form: JsonObject) -> JsonObject:
    """A form that a client of the older way can show.

    Args:
        form: an object schema whose members are primitive; left as it is.

    Returns:
        The form without a dialect; titled choices (`oneOf` of constants) have their titles in `enumNames`, and a default stands
        only on a boolean, where the older way has one.

    Raises:
        CannotAsk: a member takes several choices at once.
    """
    members = {name: _member(name, member) for name, member in form.get("properties", {}).items()}
    return {name: value for name, value in form.items() if name != "$schema"} | {"properties": members}


def _member(name: str, member: JsonObject) -> JsonObject:
    if member.get("type") == "array":
        raise CannotAsk(f"the form's member {name!r} takes several choices at once, which this revision cannot ask for")
    if "oneOf" in member:
        choices = member["oneOf"]
        member = {key: value for key, value in member.items() if key != "oneOf"} | {
            "enum": [choice["const"] for choice in choices],
            "enumNames": [choice["title"] for choice in choices],
        }
    if member.get("type") != "boolean":
        member = {key: value for key, value in member.items() if key != "default"}
    return member

"""What each definition of a schema is for, read off the schema itself.

Rule: a role is a fact that the schema states (a method, a reference), or one that a name states throughout the protocol
(`CallToolRequest` and `CallToolResult`); nothing is known here about any particular method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from .normal_form import PUBLISHED, Schema
from .references import referred
from .shapes import alternatives, resolved

_MEMBER, _BRANCH, _ITEM, _BEHIND = "Stands at", "One of the union", "Held by the list or map", "Another name is"

_PARAMS, _RESULT, _RESPONSE = "Parameters", "Result", "ResultResponse"

_SHOWN = 3
"""How many places a role lists before it only counts the rest."""


def roles(schema: Schema, wrappers: Mapping[str, Schema] = MappingProxyType({})) -> dict[str, str]:
    """One line for every definition of a schema in normal form: what it is in the protocol.

    Args:
        schema: the schema.
        wrappers: definitions that are not of it and say what carries its own: messages, and responses with their results.
    """
    definitions = schema["$defs"]
    everything = {**wrappers, **definitions}
    messages = {name: told for name, node in everything.items() if (told := _message(node))}
    carried = _carried(everything, messages)
    uses: dict[str, defaultdict[str, list[str]]] = {name: defaultdict(list) for name in definitions}
    for owner in sorted(definitions):
        for name, use, place in _references(owner, definitions[owner]):
            uses[name][use].append(place)
    return {
        name: _role(name, messages, carried.get(name, {}), uses[name]) or _nature(name, definitions)
        for name in definitions
    }


def owners(schema: Schema) -> dict[str, str]:
    """For every definition the published one that it belongs to: itself, or the one that the inline object stood in. Where nothing is said of publishing, all are."""
    published = set(schema[PUBLISHED] if PUBLISHED in schema else schema["$defs"])
    holder: dict[str, str] = {}
    for owner in sorted(schema["$defs"]):
        for name, _, _ in _references(owner, schema["$defs"][owner]):
            holder.setdefault(name, owner)
    out = {}
    for name in schema["$defs"]:
        owner = name
        while owner not in published:
            owner = holder[owner]
        out[name] = owner
    return out


def _message(node: Schema) -> str | None:
    method = node.get("properties", {}).get("method", {}).get("const")
    if method is None:
        return None
    return f"{'notification' if method.startswith('notifications/') else 'request'} `{method}`"


def _carried(everything: Mapping[str, Schema], messages: Mapping[str, str]) -> Mapping[str, Mapping[str, list[str]]]:
    """By definition and use the messages that carry it: as their params, or as the result of the response to them."""
    carried: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, node in everything.items():
        request = messages.get(name.removesuffix(_RESPONSE) + "Request") if name.endswith(_RESPONSE) else None
        for use, member, message in ((_PARAMS, "params", messages.get(name)), (_RESULT, "result", request)):
            child = node.get("properties", {}).get(member, {})
            for target, _, _ in _references(name, child) if message else ():
                carried[target][use].append(message or "")
    return carried


def _role(
    name: str, messages: Mapping[str, str], carried: Mapping[str, list[str]], uses: Mapping[str, list[str]]
) -> str:
    if name in messages:
        return f"The {messages[name]}."
    for use in (_PARAMS, _RESULT):
        if carried.get(use):
            return f"{use} of the {_listed(sorted(set(carried[use])))}."
    for ending, text in (("Result", "Result of the {}."), (_RESPONSE, "Response that carries a result of the {}.")):
        request = messages.get(name.removesuffix(ending) + "Request") if name.endswith(ending) else None
        if request:
            return text.format(request)
    return " ".join(f"{use} {_listed(uses[use])}." for use in sorted(uses))


def _nature(name: str, definitions: Schema) -> str:
    """What a definition that nothing refers to is by itself: an error, a union, another name, or there to write others down."""
    node = definitions[name]
    members = node.get("properties", {})
    inner = resolved(members.get("error", {}), definitions).get("properties", members)
    if (code := inner.get("code", {}).get("const")) is not None:
        return f"The error with code {code}."
    if branches := [*filter(None, map(referred, [*node.get("anyOf", []), *node.get("oneOf", [])]))]:
        return f"One of {_listed(f'`{branch}`' for branch in sorted(branches))}."
    if items := [*filter(None, map(referred, alternatives(node.get("items", {}), definitions)))]:
        return f"A list of {_listed(f'`{item}`' for item in items)}."
    if (target := referred(node)) is not None:
        return f"The same as `{target}`."
    alike = [
        other
        for other in definitions
        if other != name and members.keys() <= definitions[other].get("properties", {}).keys()
    ]
    return f"Its members are also those of {_listed(f'`{other}`' for other in alike)}." if members and alike else ""


def _listed(places: Iterable[str]) -> str:
    shown = list(dict.fromkeys(places))
    rest = len(shown) - _SHOWN
    return ", ".join(shown) if rest <= 1 else f"{', '.join(shown[:_SHOWN])} and {rest} more"


def _references(owner: str, node: Schema, use: str = _BEHIND, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Every reference below a definition: what is referred to, how it is used there, and where that is."""
    if (name := referred(node)) is not None:
        yield name, use, f"`{place or owner}`"
    for member, child in sorted(node.get("properties", {}).items()):
        yield from _references(owner, child, _MEMBER, f"{owner}.{member}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from _references(owner, node[keyword], use if place else _ITEM, place)
    for keyword in ("anyOf", "oneOf"):
        for branch in node.get(keyword, []):
            yield from _references(owner, branch, use if place else _BRANCH, place)

"""What each definition of a schema is for, read off the schema itself.

Rule: a role is a fact that the schema states (a method, a reference), or one that a name states throughout the protocol
(`CallToolRequest` and `CallToolResult`); nothing is known here about any particular method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from .normal_form import PUBLISHED, Schema
from .references import referred

_MEMBER, _BRANCH, _ITEM, _BEHIND = "Stands at", "One of the union", "Held by the list or map", "Another name is"

_SHOWN = 3
"""How many places a role lists before it only counts the rest."""


def roles(schema: Schema) -> dict[str, str]:
    """One line for every definition of a schema in normal form: what it is in the protocol."""
    definitions = schema["$defs"]
    messages = {name: told for name, node in definitions.items() if (told := _message(node))}
    uses: dict[str, defaultdict[str, list[str]]] = {name: defaultdict(list) for name in definitions}
    for owner in sorted(definitions):
        for name, use, place in _references(owner, definitions[owner]):
            uses[name][use].append(place)
    return {name: _role(name, definitions, messages, uses[name]) for name in definitions}


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


def _role(name: str, definitions: Schema, messages: dict[str, str], uses: Mapping[str, list[str]]) -> str:
    if name in messages:
        return f"The {messages[name]}."
    carriers = sorted({messages[owner] for owner, told in messages.items() if _params(definitions[owner]) == name})
    if carriers:
        return f"Parameters of the {_listed(carriers)}."
    for ending, text in (
        ("Result", "Result of the {}."),
        ("ResultResponse", "Response that carries a result of the {}."),
    ):
        request = messages.get(name.removesuffix(ending) + "Request") if name.endswith(ending) else None
        if request:
            return text.format(request)
    return " ".join(f"{use} {_listed(uses[use])}." for use in sorted(uses)) or "Not part of another definition."


def _params(node: Schema) -> str | None:
    return referred(node["properties"].get("params", {}))


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

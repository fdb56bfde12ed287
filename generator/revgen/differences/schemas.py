"""What differs between the schemas of two revisions: types, members, branches of unions, methods, codes, keys of `_meta`.

Rule: published names are compared with each other; what a schema has inline is part of the type that it stands in. Which type was renamed
no schema says: it is known from `canonical.yaml`, or likely because the shapes are alike, and it shows which.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..canonical.rules import Rules
from ..schemas.methods import methods
from ..schemas.outlines import Outlines
from ..schemas.references import referred
from ..schemas.renaming import likely_names
from ..schemas.roles import owners
from ..schemas.shapes import Definitions, constant, published_names


@dataclasses.dataclass(frozen=True)
class Renamed:
    """A type with another name. `why` is what `canonical.yaml` calls the move, or what makes it likely."""

    old: str
    new: str
    why: str


@dataclasses.dataclass(frozen=True, order=True)
class MemberChange:
    """A member that differs: its path in the type, and its shape in each revision; empty where it is not there. `!` is required."""

    path: str
    old: str
    new: str


@dataclasses.dataclass(frozen=True)
class TypeChange:
    """A type that both have. `form` is set where it is another kind of thing: the old and the new shape."""

    name: str
    members: tuple[MemberChange, ...] = ()
    added_branches: tuple[str, ...] = ()
    removed_branches: tuple[str, ...] = ()
    form: tuple[str, str] | None = None


@dataclasses.dataclass(frozen=True)
class MethodChange:
    """A method that differs: how it is sent in each revision; empty where it does not exist."""

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class NamedChange:
    """Something with a name and a value in each revision; empty where it is not there."""

    name: str
    old: str
    new: str


@dataclasses.dataclass(frozen=True)
class SchemaDifferences:
    """Everything that differs. `added` is by type: what it consists of, in a few words."""

    added: dict[str, str]
    removed: tuple[str, ...]
    renamed: tuple[Renamed, ...]
    types: tuple[TypeChange, ...]
    methods: tuple[MethodChange, ...]
    codes: tuple[NamedChange, ...]
    meta_keys: tuple[NamedChange, ...]


def schema_differences(old: Mapping[str, Any], new: Mapping[str, Any], rules: Rules) -> SchemaDifferences:
    """Compare two schemas in normal form.

    Args:
        old, new: the corrected schemas.
        rules: those of the canonical vocabulary, whose moves name types that were renamed.
    """
    named = published_names(old) | published_names(new)
    before, after = Outlines(old, named), Outlines(new, named)
    added = sorted(published_names(new) - published_names(old))
    removed = sorted(published_names(old) - published_names(new))
    renamed = tuple(sorted(_renamed(before, after, removed, added, rules), key=lambda one: one.old))
    pairs = {name: name for name in sorted(named) if name in before.definitions and name in after.definitions}
    gone = {one.old: one.new for one in renamed if one.old not in pairs}
    changes = [_compared(before, after, old_name, new_name) for old_name, new_name in sorted({**pairs, **gone}.items())]
    return SchemaDifferences(
        added={name: after.outline(name) for name in added},
        removed=tuple(removed),
        renamed=renamed,
        types=tuple(change for change in changes if change is not None),
        methods=tuple(_methods(old, new)),
        codes=tuple(_named_changes(_codes(old), _codes(new))),
        meta_keys=tuple(_named_changes(_meta_keys(old), _meta_keys(new))),
    )


def _compared(before: Outlines, after: Outlines, name: str, other_name: str) -> TypeChange | None:
    """How a type differs from the one that it is compared with; None where it does not."""
    label = name if name == other_name else f"{name} → {other_name}"
    ours, theirs = before.members(name), after.members(other_name)
    members = tuple(_member_changes(ours, theirs))
    old, new = before.branches(name), after.branches(other_name)
    form = None
    if bool(old) != bool(new) or not (ours or theirs or old):
        forms = (before.outline(name), after.outline(other_name))
        form = forms if forms[0] != forms[1] else None
        members = ()
    change = TypeChange(
        label,
        members,
        tuple(branch for branch in new if branch not in old) if old else (),
        tuple(branch for branch in old if branch not in new) if new else (),
        form,
    )
    return change if change != TypeChange(label) else None


def _member_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[MemberChange]:
    """What differs. Where a named type stands now instead of an inline object, that type says what is in it."""
    named = ""
    for path in sorted({*old, *new}):
        if old.get(path) == new.get(path) or (named and path.startswith(named) and path not in new):
            continue
        yield MemberChange(path, old.get(path, ""), new.get(path, ""))
        if path in old and path in new:
            named = f"{path}."


def _renamed(
    before: Outlines, after: Outlines, removed: list[str], added: list[str], rules: Rules
) -> Iterator[Renamed]:
    known = {
        move.published: Renamed(move.published, move.canonical, move.name)
        for move in rules.moves
        if move.published in before.definitions and move.canonical in added
    }
    yield from known.values()
    # A name may stay and mean something else: what it meant may have another name now.
    both = before.named & before.definitions.keys() & after.definitions.keys()
    turned = [name for name in both if before.members(name) and after.branches(name)]
    came = set(added) - {one.new for one in known.values()}
    for old in sorted({*removed, *turned} - known.keys()):
        for new, why in list(likely_names(before, after, old, came).items())[:1]:
            yield Renamed(old, new, f"likely, by {why}")


def _methods(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[MethodChange]:
    before, after = _directions(old), _directions(new)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield MethodChange(name, before.get(name, ()), after.get(name, ()))


def _directions(schema: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for method in methods(schema):
        found[method.name] = (*found.get(method.name, ()), method.direction)
    return found


def _codes(schema: Mapping[str, Any]) -> dict[str, str]:
    """The codes that a schema gives a name: published type → code."""
    holders = owners(dict(schema))
    codes = (
        (holders[name], constant(node.get("properties", {}).get("code", {})))
        for name, node in sorted(schema["$defs"].items())
    )
    return {name: str(code) for name, code in codes if code is not None}


def _meta_keys(schema: Mapping[str, Any]) -> dict[str, str]:
    """The keys that a schema defines for `_meta`: key → which messages have it, with `!` where they must."""
    definitions: Definitions = schema["$defs"]
    holders = owners(dict(schema))
    found: dict[str, set[str]] = {}
    for name, node in definitions.items():
        meta = referred(node.get("properties", {}).get("_meta", {}))
        for key in definitions.get(meta or "", {}).get("properties", {}):
            must = "!" * (key in definitions[meta or ""].get("required", []))
            found.setdefault(key, set()).add(_sort_of_message(holders[name]) + must)
    return {key: ", ".join(sorted(kinds)) for key, kinds in sorted(found.items())}


def _sort_of_message(name: str) -> str:
    return next((word.lower() for word in ("Notification", "Result", "Request") if word in name), name)


def _named_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterable[NamedChange]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield NamedChange(name, old.get(name, ""), new.get(name, ""))

"""Which revisions have each type and member of the canonical vocabulary, and what they call it.

Rule: like leaving out, this compares place by place: a revision may have a type inline that another one names. What a reader is told
of it, "since" and "until", is worded here, once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..schemas.references import referred
from ..schemas.shapes import Definitions, Node, alternatives, json_types, resolved
from .merge import published_aliases
from .rules import Rules


@dataclasses.dataclass(frozen=True)
class Origin:
    """One type in one revision.

    Attributes:
        published: the definitions that it is made of there, in the order of their names.
        members: what it has there, by wire name.
        alike: those of the members that take the same kinds of JSON as in the canonical vocabulary.
    """

    published: tuple[str, ...]
    members: frozenset[str]
    alike: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Origins:
    """All types in all revisions.

    Attributes:
        versions: the revisions, oldest first.
        types: canonical name → version → what it is there.
        drafts: those of the revisions that are none yet: what they lack is not gone.
    """

    versions: tuple[str, ...]
    types: Mapping[str, Mapping[str, Origin]]
    drafts: frozenset[str] = frozenset()

    def of(self, version: str, published: str) -> str | None:
        """The canonical type that a published definition of a revision is; by preference the one of the same name."""
        names = [name for name, origins in self.types.items() if published in origins.get(version, _NOWHERE).published]
        return published if published in names else next(iter(names), None)

    def when_type(self, name: str) -> str:
        """Since and until when a type is there, in words; empty where it always is."""
        return self._when(self.types[name])

    def when_member(self, name: str, member: str) -> str:
        """Since and until when a member is there, in words; empty where it is as long as its type."""
        having = [version for version, origin in self.types[name].items() if member in origin.members]
        words = self._when(having)
        return "" if words == self.when_type(name) else words

    def _when(self, having: Collection[str]) -> str:
        final = [version for version in self.versions if version not in self.drafts]
        known = final if any(version in having for version in final) else self.versions
        return _when(known, having)


_NOWHERE = Origin((), frozenset(), frozenset())


def find_origins(
    schemas: Mapping[str, Mapping[str, Any]], rules: Rules, canonical: Mapping[str, Any], drafts: Iterable[str] = ()
) -> Origins:
    """Find every canonical type in every revision.

    Args:
        schemas: the corrected schema of each revision, oldest first.
        rules: what `canonical.yaml` says, whose moves rename types.
        canonical: the vocabulary as a schema.
        drafts: those of the revisions that are drafts.
    """
    types: dict[str, dict[str, Origin]] = {name: {} for name in canonical["$defs"]}
    for version, schema in schemas.items():
        for name, published in _pairs(canonical["$defs"], schema, published_aliases(schema, rules)).items():
            if published:
                types[name][version] = _origin(name, sorted(published), canonical["$defs"], schema["$defs"])
    return Origins(tuple(schemas), types, frozenset(drafts))


def _pairs(ours: Definitions, schema: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, set[str]]:
    """The definitions of a revision that are each canonical type, by name or, where an inline object has none, by place."""
    theirs: Definitions = schema["$defs"]
    pairs: dict[str, set[str]] = {name: set() for name in ours}
    waiting = [(aliases.get(name, name), name) for name in theirs if aliases.get(name, name) in ours]
    while waiting:
        name, published = waiting.pop()
        if published in pairs[name]:
            continue
        pairs[name].add(published)
        for our_name, their_name in _beside(ours[name], theirs[published]):
            known_as = aliases.get(their_name, their_name)
            if our_name in ours and (known_as == our_name or known_as not in ours):
                waiting.append((our_name, their_name))
    return pairs


def _beside(ours: Node, theirs: Node) -> Iterator[tuple[str, str]]:
    """The references that stand at the same place in two nodes."""
    our_name, their_name = referred(ours), referred(theirs)
    if our_name is not None and their_name is not None:
        yield our_name, their_name
        return
    for member in ours.get("properties", {}).keys() & theirs.get("properties", {}).keys():
        yield from _beside(ours["properties"][member], theirs["properties"][member])
    for keyword in ("items", "additionalProperties"):
        inner, other = ours.get(keyword), theirs.get(keyword)
        if isinstance(inner, Mapping) and isinstance(other, Mapping):
            yield from _beside(inner, other)


def _origin(name: str, published: Sequence[str], ours: Definitions, theirs: Definitions) -> Origin:
    members: dict[str, list[Node]] = {}
    for definition in published:
        for member, node in resolved(theirs[definition], theirs).get("properties", {}).items():
            members.setdefault(member, []).append(node)
    known: Mapping[str, Node] = ours[name].get("properties", {})
    return Origin(
        tuple(published),
        frozenset(members),
        frozenset(
            member
            for member in members.keys() & known.keys()
            if all(_kinds(node, theirs) == _kinds(known[member], ours) for node in members[member])
        ),
    )


def _kinds(node: Node, definitions: Definitions) -> frozenset[str]:
    """The kinds of JSON that meet a node; a list says the kinds of its items too."""
    kinds: set[str] = set()
    for branch in alternatives(node, definitions):
        inner = resolved(branch, definitions)
        if "items" in inner:
            kinds.update(f"list of {kind}" for kind in _kinds(inner["items"], definitions))
        elif "const" in inner or "enum" in inner:
            kinds.update(type(value).__name__ for value in inner.get("enum", [inner.get("const")]))
        elif "properties" in inner:
            kinds.add("object")
        else:
            kinds.update({"string": "str", "integer": "number"}.get(kind, kind) for kind in json_types(inner))
    return frozenset(kinds)


def _when(versions: Sequence[str], having: Collection[str]) -> str:
    """In which of the revisions something is, in words; empty where it is in all."""
    places = [number for number, version in enumerate(versions) if version in having]
    if not places:
        return ""
    first, last = versions[places[0]], versions[places[-1]]
    since, until = places[0] > 0, places[-1] < len(versions) - 1
    # What the newest has says no more than since when, so that a newer one changes nothing here.
    if since and until:
        words = [f"Only in {first}." if first == last else f"Since {first}, until {last}."]
    elif since:
        words = [f"Since {first}."]
    else:
        words = [f"Until {last}."] if until else []
    lacking = [version for version in versions[places[0] : places[-1]] if version not in having]
    return " ".join([*words, *([f"Not in {', '.join(lacking)}."] if lacking else [])])

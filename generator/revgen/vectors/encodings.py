"""Vectors of what is sent: a canonical value, and what a revision makes of it.

Rule: what is expected follows from the published schemas and from what a person wrote down for the revision that this one is like: a member
that the schema lacks is not sent, one that it has is. Nothing here asks an adapter.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..canonical.merge import published_aliases
from ..canonical.rules import Rules
from ..schemas import methods
from ..schemas.methods import Method, Root, method_roots
from ..schemas.references import reference
from ..schemas.shapes import Definitions, Node, alternatives, json_types, resolved
from .files import Vector
from .messages import Side, cited, renamed
from .samples import has, met, put

Json = Any
Path = tuple[str | int, ...]

_ALONE = {
    "client_capabilities": "ClientCapabilities",
    "server_capabilities": "ServerCapabilities",
    "implementations": "Implementation",
}
# The file, and of which directions its methods are.
KINDS: dict[str, tuple[str, ...]] = {
    "params": (methods.CLIENT_REQUEST,),
    "results": (methods.CLIENT_REQUEST,),
    "questions": (methods.SERVER_REQUEST, methods.EMBEDDED_REQUEST),
    "answers": (methods.SERVER_REQUEST, methods.EMBEDDED_REQUEST),
    "notifications": (methods.CLIENT_NOTIFICATION, methods.SERVER_NOTIFICATION),
    **dict.fromkeys(_ALONE, ()),
}
_OWN_META = {"harbour.example/own": 1}
_UNHEARD_OF = "unheardOf"


@dataclasses.dataclass(frozen=True)
class NewMember:
    """A member that the vocabulary has for the sake of one revision: its canonical type, its name, and a value of it."""

    type: str
    name: str
    value: Json


class Encodings:
    """Makes the vectors of what one revision sends.

    Args:
        new: the revision.
        old: the one that it is like.
        schemas: the corrected schema of every revision, oldest first.
        canonical: the vocabulary as a schema.
        filled: `member` or `Type.member` → what the new revision's inventory says stands where a value has none.
        rules: those of the vocabulary.
        names: definitions of the old revision that the new one has under another name.
    """

    def __init__(
        self,
        new: Side,
        old: Side,
        schemas: Mapping[str, Mapping[str, Any]],
        canonical: Mapping[str, Any],
        filled: Mapping[str, Json],
        rules: Rules,
        names: Mapping[str, str],
    ) -> None:
        self.new = new
        self.old = old
        self.canonical: Definitions = canonical["$defs"]
        self.schemas = schemas
        self.filled = filled
        self.rules = rules
        self.names = names
        self.canonical_names = published_aliases(new.schema, rules)

    def vectors(self, kind: str, like: Sequence[Vector], members: Sequence[NewMember]) -> list[Vector]:
        """All vectors of a kind.

        Args:
            kind: a key of `KINDS`.
            like: those of the revision that this one is like.
            members: what the vocabulary has for the sake of this one.
        """
        adapted = [self._adapted(kind, vector) for vector in like]
        found = [vector for vector in adapted if vector is not None]
        shown = {_method(kind, vector) for vector in found}
        for method in self._methods(self.new, kind).values():
            if method.name not in shown:
                found += self._of_method(kind, method, like)
        return [*found, *self.with_members(self.new.version, kind, found, members, carries=True)]

    def with_members(
        self, version: str, kind: str, vectors: Sequence[Vector], members: Sequence[NewMember], *, carries: bool
    ) -> Iterator[Vector]:
        """A vector for each member that none of some vectors shows, made of the shortest one that has its type.

        Args:
            version: the revision whose vectors they are.
            kind: a key of `KINDS`.
            vectors: those there are.
            members: the members.
            carries: whether the revision has these members, and sends them.
        """
        places = [
            (vector, path, name)
            for vector in sorted(vectors, key=lambda vector: len(json.dumps(vector.get("sent"))))
            if vector.get("sent") is not None
            for path, name in self._places(version, kind, vector)
        ]
        for member in members:
            mine = [(vector, path) for vector, path, name in places if name == member.type]
            if any(member.name in _at(vector["given"], path) for vector, path in mine):
                continue
            for vector, path in mine:
                where = ("params", *path) if kind == "notifications" else path
                target = _at(vector["sent"], where)
                if isinstance(target, dict):
                    sent = put(vector["sent"], (*where, member.name), member.value) if carries else vector["sent"]
                    given = put(vector["given"], (*path, member.name), member.value)
                    name = f"{vector['name']}, and {member.type}.{member.name}"
                    rest: Vector = {key: vector[key] for key in ("method", "cite") if key in vector}
                    server = {"server": vector["server"]} if "server" in vector else {}
                    yield {"name": name, **rest, "given": given, "sent": copy.deepcopy(sent), **server}
                    break

    def types_in(self, kind: str, vectors: Sequence[Vector]) -> set[str]:
        """The canonical types of all objects that vectors of a kind send."""
        sent = [vector for vector in vectors if vector.get("sent") is not None]
        return {name for vector in sent for _, name in self._places(self.new.version, kind, vector)}

    # What is taken over.

    def _adapted(self, kind: str, vector: Vector) -> Vector | None:
        """A vector of the old revision as the new schema has it; None where its method is gone."""
        out: Vector = renamed(vector, self.old.version, self.new.version)
        method = _method(kind, out)
        if kind not in _ALONE and method not in self._methods(self.new, kind):
            return None
        out = {**out, "cite": self._cited(out["cite"], kind, method)}
        if out.get("sent") is None:
            return out
        before = self._sent(self.old, kind, method, vector["sent"])
        # The same type, also where it requires more now than what was sent.
        now = self._sent(self.new, kind, method, out["sent"], self.names.get(before, before))
        if before and now:
            given = out["given"] if kind != "notifications" else {"params": out["given"]}
            out = {**out, "sent": self._resent(out["sent"], given, reference(before), reference(now))}
            if not self._fits(kind, now, out["sent"]):
                out = {"name": out["name"], "review": f"what is sent does not fit {now}: write what should be", **out}
        return out

    def _resent(self, sent: Json, given: Json, old: Node, new: Node) -> Json:
        """What the old revision sends, without what the new schema lacks, with what it has of what is given, and with what fills it, at each place."""
        if not isinstance(sent, list) and self._takes_lists_alone(new):
            lists = [
                branch
                for branch in alternatives(old, self.old.definitions)
                if "items" in resolved(branch, self.old.definitions)
            ]
            return self._resent([sent], [given], lists[0] if lists else {"type": "array", "items": old}, new)
        if isinstance(sent, list):
            items = given if isinstance(given, list) and len(given) == len(sent) else [None] * len(sent)
            _, before = met(old, sent, self.old.definitions)
            _, now = met(new, sent, self.new.definitions)
            if not isinstance(before.get("items"), Mapping) or not isinstance(now.get("items"), Mapping):
                return sent
            return [
                self._resent(item, one, before["items"], now["items"]) for item, one in zip(sent, items, strict=True)
            ]
        if not isinstance(sent, dict):
            return sent
        name, before = met(old, sent, self.old.definitions)
        here, now = self._met_now(name, new, sent)
        known, kept = before.get("properties", {}), now.get("properties", {})
        given = given if isinstance(given, dict) else {}
        out = {}
        for member, inner in sent.items():
            if member in known and member not in kept and kept:
                continue
            both = member in known and member in kept and not self._is_plain(name, member)
            out[member] = self._resent(inner, given.get(member), known[member], kept[member]) if both else inner
        for member, inner in given.items():
            if member in kept and member not in known and member not in out and inner is not None:
                out[member] = self._cleaned(inner, kept[member])
        return self._completed(out, here, now)

    def _met_now(self, before: str, node: Node, sent: Json) -> tuple[str, Node]:
        """The branch that what was sent belongs to: the type that it had, also where that requires more now."""
        name = self.names.get(before, before)
        if name and reference(name) in alternatives(node, self.new.definitions):
            return name, resolved(reference(name), self.new.definitions)
        return met(node, sent, self.new.definitions)

    def _takes_lists_alone(self, node: Node) -> bool:
        branches = [resolved(branch, self.new.definitions) for branch in alternatives(node, self.new.definitions)]
        return all(json_types(branch) == ["array"] for branch in branches)

    def _cleaned(self, given: Json, node: Node) -> Json:
        """A canonical value without the members that the new schema does not name."""
        name, inner = met(node, given, self.new.definitions)
        if isinstance(given, list) and isinstance(inner.get("items"), Mapping):
            return [self._cleaned(item, inner["items"]) for item in given]
        properties, rest = inner.get("properties", {}), inner.get("additionalProperties")
        if isinstance(given, dict) and properties:
            return {
                member: value if self._is_plain(name, member) else self._cleaned(value, properties[member])
                for member, value in given.items()
                if member in properties
            }
        if isinstance(given, dict) and isinstance(rest, Mapping):
            return {member: self._cleaned(value, rest) for member, value in given.items()}
        return given

    def _is_plain(self, name: str, member: str) -> bool:
        """Whether the vocabulary has a member as plain JSON, whatever its inside."""
        return any(pattern.matches(f"{name}.{member}") for pattern in self.rules.plain_members)

    def _fits(self, kind: str, definition: str, sent: Json) -> bool:
        # Whoever sends params puts in what is said of every request.
        complaints = self.new.judge.complaints(definition, sent)
        return all(kind == "params" and set(path) <= {"_meta"} for path in complaints)

    def _completed(self, sent: Json, definition: str, node: Node) -> Json:
        """What is sent, with what the inventory puts into required members that it lacks."""
        for member in node.get("required", []):
            name = next(
                (
                    key
                    for key in (f"{self.canonical_names.get(definition, definition)}.{member}", member)
                    if key in self.filled
                ),
                "",
            )
            if name and member not in sent:
                sent = {**sent, member: self.filled[name]}
        return sent

    def _cited(self, cite: Json, kind: str, method: str) -> Json:
        definition = _ALONE.get(kind) or self._methods(self.new, kind)[method].definition
        return cited(cite, self.new.schema, [f"schema: #/$defs/{definition}"])

    def _sent(self, side: Side, kind: str, method: str, sent: Json, likely: str = "") -> str:
        """The definition of what is sent; empty where there is none. Of several results, `likely` if it is among them."""
        if kind in _ALONE:
            return _ALONE[kind]
        found = self._methods(side, kind).get(method)
        if found is None:
            return ""
        if kind in ("results", "answers"):
            if likely in found.results:
                return likely
            return next((name for name in found.results if side.judge.takes(name, sent)), found.results[0])
        return (found.params or "") if kind == "params" else found.definition

    def _methods(self, side: Side, kind: str) -> dict[str, Method]:
        return {method.name: method for method in side.methods if method.direction in KINDS[kind]}

    # What is made.

    def _of_method(self, kind: str, method: Method, like: Sequence[Vector]) -> Iterator[Vector]:
        """A vector of a method that the old revision has not: everything, and what nobody knows left out."""
        base: Vector = {"name": f"{method.name} with everything"}
        base |= {} if kind == "questions" else {"method": method.name}
        base |= {"cite": f"schema: #/$defs/{method.definition}"}
        if kind in ("results", "answers"):
            definition = method.results[0]
            added = self._added(like, definition)
            value = {**self.new.samples.full(definition), **added, "_meta": _OWN_META}
            meta = {**_OWN_META, **added.get("_meta", {})}
            yield {**base, "given": {**value, _UNHEARD_OF: True}, "sent": {**value, "_meta": meta}}
            return
        value = self.new.samples.full(method.params) if method.params else {}
        value = {**value, "_meta": _OWN_META}
        given = {**value, _UNHEARD_OF: True}
        if kind == "questions":
            yield {
                **base,
                "given": {"method": method.name, "params": given},
                "sent": {"method": method.name, "params": value},
            }
        elif kind == "params":
            yield {**base, "given": given, "sent": value}
        else:
            yield {
                **base,
                "given": given,
                "sent": {"jsonrpc": "2.0", "method": method.name, "params": value},
            }

    def _added(self, like: Sequence[Vector], definition: str) -> dict[str, Json]:
        """What the old revision sends beyond what it is given, and this definition has a member for."""
        properties = resolved(reference(definition), self.new.definitions).get("properties", {})
        found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for vector in like:
            for name in (vector.get("sent") or {}).keys() - vector["given"].keys():
                found[name][json.dumps(renamed(vector["sent"][name], self.old.version, self.new.version))] += 1
        return {name: json.loads(counted.most_common(1)[0][0]) for name, counted in found.items() if name in properties}

    # Where a type stands in a canonical value.

    def _places(self, version: str, kind: str, vector: Vector) -> Iterator[tuple[Path, str]]:
        """Every object of a canonical value with its type."""
        root = self._root(version, kind, _method(kind, vector))
        if root:
            start: Path = ("params",) if kind == "questions" else ()
            yield from self._within(reference(root), _at(vector["given"], start), start)

    def _within(self, node: Node, value: Json, path: Path) -> Iterator[tuple[Path, str]]:
        name, inner = met(node, value, self.canonical)
        if isinstance(value, dict):
            if name:
                yield path, name
            for member, child in inner.get("properties", {}).items():
                if member in value:
                    yield from self._within(child, value[member], (*path, member))
        elif isinstance(value, list) and isinstance(inner.get("items"), Mapping):
            for number, item in enumerate(value):
                yield from self._within(inner["items"], item, (*path, number))

    def _root(self, version: str, kind: str, method: str) -> str:
        if kind in _ALONE:
            return _ALONE[kind]
        root: Root | None = None
        for known, roots in self._roots(version).items():
            if known.name == method and known.direction in KINDS[kind]:
                root = roots.result if kind in ("results", "answers") else roots.params
        return root.canonical if root is not None and root.canonical in self.canonical else ""

    @functools.cache  # noqa: B019
    def _roots(self, version: str) -> dict[Method, methods.MethodRoots]:
        return method_roots(self.schemas, version)


def new_members(
    version: str, canonical: Mapping[str, Any], without: Mapping[str, Any], side: Side, names: Mapping[str, str]
) -> list[NewMember]:
    """What the vocabulary has for the sake of one revision, in types that it has anyway.

    Args:
        version: the revision.
        canonical: the vocabulary.
        without: the vocabulary of all other revisions.
        side: the revision.
        names: canonical types → the definition of the revision, where that has another name.
    """
    found = []
    for name, node in canonical["$defs"].items():
        before = without["$defs"].get(name)
        published = names.get(name, name)
        if before is None or published not in side.definitions:
            continue
        here = resolved(reference(published), side.definitions).get("properties", {})
        for member in sorted(node.get("properties", {}).keys() - before.get("properties", {}).keys()):
            if member in here:
                found.append(NewMember(name, member, side.samples.member(published, member)))
    return found


def _method(kind: str, vector: Vector) -> str:
    if kind == "questions":
        return str(vector["given"].get("method", ""))
    return str(vector.get("method", ""))


def _at(value: Json, path: Path) -> Json:
    for step in path:
        if not has(value, step):
            return None
        value = value[step]
    return value

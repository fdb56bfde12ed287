"""The canonical schema: the one vocabulary that handlers and callers use, merged from the schemas of all revisions.

Rule: everything that any revision can say, it can say too. The newest definition of a name wins, what only older revisions have
is added as optional, unions are united, and required is what every revision requires. What differs in a way that neither this
nor `specs/canonical.yaml` settles is a complaint, never a guess.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..reading.located import Place, Problems
from ..schemas.references import reference, referred
from ..schemas.shapes import Definitions, Node, is_object, json_types, published_names, references, resolved
from .rules import Pattern, Rules
from .union import Clash, united

_DEFINITION_KEY = "$defs"


def merge(
    schemas: Mapping[str, Mapping[str, Any]],
    rules: Rules,
    problems: Problems,
    drafts: Collection[str] = (),
    unsettled: set[str] | None = None,
) -> dict[str, Any]:
    """Merge the schemas of all revisions into the canonical one.

    Args:
        schemas: each revision's corrected schema in normal form (`$defs`), oldest first.
        rules: what `canonical.yaml` says.
        problems: receives every conflict that no rule settles, and every type that is left out although something that stays
            refers to it; a rule that settles nothing is a remark.
        drafts: those of the revisions that are none yet. They add optional members and new types; what a final revision
            defines they leave as it is.
        unsettled: receives the types and members (`Type.member`) in which there is a conflict, so that nobody compares them any further.

    Returns:
        A schema in normal form, sorted throughout; the same inputs give the same bytes.
    """
    final = {revision: schema for revision, schema in schemas.items() if revision not in drafts}
    if not final or len(final) == len(schemas):
        return _Merger(schemas, rules, problems, unsettled).run()
    own, all_ = Problems(), Problems()
    whole = _Merger(final, rules, own, unsettled).run()
    # As if they were older than all others: then the final ones name and shape what both have.
    added = _Merger(
        {revision: schemas[revision] for revision in schemas if revision in drafts} | final, rules, all_
    ).run()
    problems.found += own.found
    problems.remarks += [remark for remark in own.remarks if remark in all_.remarks]
    return _with_added(whole, added, rules, problems)


def _with_added(whole: dict[str, Any], added: Mapping[str, Any], rules: Rules, problems: Problems) -> dict[str, Any]:
    """The vocabulary of the final revisions, with the types and the optional members that only drafts have."""
    types = {name: node for name, node in added[_DEFINITION_KEY].items() if name not in whole[_DEFINITION_KEY]}
    for name, node in whole[_DEFINITION_KEY].items():
        properties = node.get("properties", {})
        more = added[_DEFINITION_KEY].get(name, {}).get("properties", {}) if properties else {}
        members = {member: shape for member, shape in more.items() if member not in properties}
        types[name] = {**node, "properties": {**properties, **members}} if members else node
        _remark_kinds(name, node, added[_DEFINITION_KEY].get(name, {}), rules, problems)
    for name, node in types.items():
        for inner in sorted({*references(node)} - types.keys()):
            problems.add(rules.place, f"'{inner}' is left out, but '{name}' is kept and refers to it")
    out: dict[str, Any] = _sorted({_DEFINITION_KEY: types})
    return out


def _remark_kinds(name: str, final: Node, wider: Node, rules: Rules, problems: Problems) -> None:
    """Remark the types that a draft takes in a place of the vocabulary, and that are not taken there before it is final."""
    before = {"": {key: node for key, node in final.items() if key != "properties"}, **final.get("properties", {})}
    after = {"": {key: node for key, node in wider.items() if key != "properties"}, **wider.get("properties", {})}
    for member in before.keys() & after.keys():
        place = f"{name}.{member}" if member else name
        for kind in sorted({*references(after[member])} - {*references(before[member])}):
            problems.remark(
                rules.place,
                f"'{kind}' is in the vocabulary, and no member of '{place}' before the draft that has it there is final: what the "
                "newest final revision says stays",
            )


def published_aliases(schema: Mapping[str, Any], rules: Rules) -> dict[str, str]:
    """The moves that hold in one revision: the name that its schema publishes → the canonical name."""
    definitions = schema[_DEFINITION_KEY]
    return {
        move.published: move.canonical
        for move in rules.moves
        if move.published in definitions and move.canonical not in definitions
    }


class _Merger:
    def __init__(
        self,
        schemas: Mapping[str, Mapping[str, Any]],
        rules: Rules,
        problems: Problems,
        unsettled: set[str] | None = None,
    ) -> None:
        self.schemas = dict(reversed(list(schemas.items())))
        self.rules = rules
        self.problems = problems
        self.unsettled: set[str] = set() if unsettled is None else unsettled
        self.used: set[Place] = set()
        self.names = {revision: published_aliases(schema, rules) for revision, schema in self.schemas.items()}
        self.published = {
            self._canonical(revision, name)
            for revision, schema in self.schemas.items()
            for name in published_names(schema)
        }
        self.definitions_of: dict[str, Mapping[str, Sequence[str]]] = {}
        self.borrowed: dict[str, dict[str, Node]] = {}
        self.merged: dict[str, dict[str, Any]] = {}
        self.conflicts: list[tuple[str, str]] = []  # places, and what is said of each
        self.renamed: dict[
            tuple[str, str], list[str]
        ] = {}  # types that seem one under two names, and the places that say so
        self.needless: dict[Place, str] = {}  # rules that make plain what needs no rule

    def run(self) -> dict[str, Any]:
        while self._find_names_by_place():
            pass
        # What a reference means decides what can be united with it: at first the newest definition, then the merged one.
        names = sorted(self._all_names())
        self.merged = {name: self._rewritten(*next(self._contributions(name))) for name in names}
        self.merged = {name: self._definition(name) for name in names}
        self.conflicts.clear()
        self.renamed.clear()
        everything = {name: self._definition(name) for name in names}
        kept = self._reachable({name: self._without_wire(name, node) for name, node in everything.items()})
        self._complain_about_conflicts(kept)
        self._complain_about_missing(kept)
        self._complain_about_unused()
        return {_DEFINITION_KEY: _sorted(kept)}

    # Which definitions are the same thing.

    def _canonical(self, revision: str, name: str) -> str:
        return self.names[revision].get(name, name)

    def _published(self, revision: str) -> Mapping[str, Sequence[str]]:
        """The definitions of a revision by the canonical type that each is."""
        if revision not in self.definitions_of:
            found: dict[str, list[str]] = {}
            for published in sorted(self.schemas[revision][_DEFINITION_KEY]):
                found.setdefault(self._canonical(revision, published), []).append(published)
            self.definitions_of[revision] = found
        return self.definitions_of[revision]

    def _all_names(self) -> set[str]:
        return {name for revision in self.schemas for name in self._published(revision)}

    def _find_names_by_place(self) -> bool:
        """An inline object of an older revision is the type that a newer one names at the same place."""
        before = {revision: dict(names) for revision, names in self.names.items()}
        for name in sorted(self._all_names()):
            newest: dict[str, tuple[str, Node]] = {}
            for revision, definition in self._contributions(name):
                for member, node in definition.get("properties", {}).items():
                    if member in newest:
                        self._align(*newest[member], revision, node)
                    else:
                        newest[member] = (revision, node)
        return before != self.names

    def _align(self, newer: str, new: Node, older: str, old: Node) -> None:
        new_name, old_name = referred(new), referred(old)
        if new_name is not None and old_name is not None:
            canonical = self._canonical(newer, new_name)
            if canonical == self._canonical(older, old_name):
                return
            if old_name not in published_names(self.schemas[older]):
                # A move says more than a place does.
                self.names[older].setdefault(old_name, canonical)
                self.definitions_of.pop(older, None)
            elif canonical not in self.published:
                self.borrowed.setdefault(canonical, {})[older] = reference(old_name)
        elif new_name is not None and self._canonical(newer, new_name) not in self.published:
            self.borrowed.setdefault(self._canonical(newer, new_name), {})[older] = old
        for keyword in ("items", "additionalProperties"):
            if keyword in new and keyword in old:
                self._align(newer, new[keyword], older, old[keyword])

    def _contributions(self, name: str) -> Iterator[tuple[str, Node]]:
        """Every definition that a canonical type is made of, newest first."""
        for revision, schema in self.schemas.items():
            definitions = schema[_DEFINITION_KEY]
            for published in self._published(revision).get(name, ()):
                yield revision, definitions[published]
            if (borrowed := self.borrowed.get(name, {}).get(revision)) is not None:
                yield revision, resolved(borrowed, definitions)

    # One definition, one member.

    def _definition(self, name: str) -> dict[str, Any]:
        contributions = [(revision, self._rewritten(revision, node)) for revision, node in self._contributions(name)]
        members: dict[str, list[tuple[str, Node]]] = {}
        for revision, node in contributions:
            for member, shape in node.get("properties", {}).items():
                members.setdefault(member, []).append((revision, shape))
        outlines = [
            (revision, {key: value for key, value in node.items() if key not in ("properties", "required")})
            for revision, node in contributions
        ]
        unions = [entry for entry in contributions if not {"anyOf", "oneOf"}.isdisjoint(entry[1])]
        if members and unions:
            objects = [entry for entry in contributions if "properties" in entry[1]]
            clash = Clash(unions[0][1], objects[0][1])
            self._conflict(name, clash, unions[0][1], objects[0][1], contributions)
            return dict(contributions[0][1])
        whole = dict(self._united(name, outlines))
        if members:
            # Free form in one revision: what the members of the others are is no longer said by a map.
            whole.pop("additionalProperties", None)
            whole["properties"] = {
                member: self._member(f"{name}.{member}", shapes) for member, shapes in sorted(members.items())
            }
            required = set.intersection(*(set(node.get("required", [])) for _, node in contributions))
            if required:
                whole["required"] = sorted(required)
        return whole

    def _member(self, place: str, shapes: Sequence[tuple[str, Node]]) -> Node:
        plain = self._matching(self.rules.plain_members, place)
        if not plain:
            newest = shapes[0][1]
            lenders = self.borrowed.get(referred(newest) or "", {})
            # What an older revision has there is part of the newer type already.
            return self._united(
                place, [(revision, newest if revision in lenders else shape) for revision, shape in shapes]
            )
        free = self._free(shape for _, shape in shapes)
        if any(shape != free for _, shape in shapes):
            self.used.update(pattern.place for pattern in plain)
        if [pattern.text for pattern in plain] == [place] and self._are_leaves_alike([shape for _, shape in shapes]):
            self.needless[plain[0].place] = place
        return free

    def _are_leaves_alike(self, shapes: Sequence[Node]) -> bool:
        """Whether no rule is needed to unite these shapes, and no object or list among them is an application's own."""
        if any({"array", "object"} & set(json_types(resolved(shape, self.merged))) for shape in shapes):
            return False
        try:
            functools.reduce(lambda newer, older: united(newer, older, self.merged), shapes)
        except Clash:
            return False
        return True

    def _free(self, shapes: Iterable[Node]) -> dict[str, Any]:
        return {"type": "object"} if all(is_object(shape, self.merged) for shape in shapes) else {}

    def _united(self, place: str, shapes: Sequence[tuple[str, Node]]) -> Node:
        _, whole = shapes[0]
        for _, shape in shapes[1:]:
            try:
                whole = united(whole, shape, self.merged)
            except Clash as clash:
                self._conflict(place, clash, whole, shape, shapes)
                return whole
        return whole

    def _conflict(self, place: str, clash: Clash, newer: Node, older: Node, shapes: Sequence[tuple[str, Node]]) -> None:
        both = []
        for words, shape in ((clash.newer, newer), (clash.older, older)):
            revisions = {revision for revision, known in shapes if known == shape} or {shapes[0][0]}
            both.append(f"{words} in {', '.join(sorted(revisions))}")
        remedy = f"list it under 'plain: {'members' if '.' in place else 'types'}' to pass it as it is"
        if clash.types is not None and self._is_renamed(*clash.types):
            self.renamed.setdefault(clash.types, []).append(place)
            return
        self.conflicts.append((place, f"no rule settles '{place}': {both[0]}, but {both[1]}; {remedy}"))

    def _is_renamed(self, newer: str, older: str) -> bool:
        """Whether no revision has both types, and both are objects: one came where the other went."""
        return all(is_object(reference(name), self.merged) for name in (newer, older)) and not any(
            newer in self._published(revision) and older in self._published(revision) for revision in self.schemas
        )

    def _rewritten(self, revision: str, node: Any) -> Any:
        """A node with canonical names, and with plain types in place."""
        if isinstance(node, list):
            return [self._rewritten(revision, item) for item in node]
        if not isinstance(node, Mapping):
            return node
        if (published := referred(node)) is not None:
            name = self._canonical(revision, published)
            plain = self._matching(self.rules.plain_types, name)
            if not plain:
                return reference(name)
            self.used.update(pattern.place for pattern in plain)
            definitions: Definitions = self.schemas[revision][_DEFINITION_KEY]
            return {"type": "object"} if is_object(definitions[published], definitions) else {}
        return {key: self._rewritten(revision, value) for key, value in node.items()}

    # What stays.

    def _matching(self, patterns: Iterable[Pattern], name: str) -> list[Pattern]:
        return [pattern for pattern in patterns if pattern.matches(name)]

    def _without_wire(self, name: str, node: Node) -> dict[str, Any]:
        properties = {}
        for member, shape in node.get("properties", {}).items():
            left_out = self._matching(self.rules.left_out_members, f"{name}.{member}")
            self.used.update(pattern.place for pattern in left_out)
            if not left_out:
                properties[member] = shape
        if len(properties) == len(node.get("properties", {})):
            return dict(node)
        out = {key: value for key, value in node.items() if key not in ("properties", "required")}
        out["properties"] = properties
        if required := [member for member in node.get("required", []) if member in properties]:
            out["required"] = required
        return out

    def _left_out(self, name: str) -> bool:
        if plain := self._matching(self.rules.plain_types, name):
            self.used.update(pattern.place for pattern in plain)
            return True
        left_out = self._matching(self.rules.left_out_types, name)
        if not left_out:
            return False
        self.used.update(pattern.place for pattern in left_out)
        kept = self._matching(self.rules.kept_types, name)
        self.used.update(pattern.place for pattern in kept)
        return not kept

    def _reachable(self, everything: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """The types that stay: published ones, what messages carry, and the inline objects that those are made of."""
        payloads = {
            name
            for definition in everything.values()
            if "method" in definition.get("properties", {})
            for name in references(definition["properties"].get("params", {}))
        }
        waiting = sorted(name for name in everything if name in self.published | payloads and not self._left_out(name))
        kept: dict[str, dict[str, Any]] = {}
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept[name] = everything[name]
                waiting += [
                    inner
                    for inner in references(everything[name])
                    if inner not in self.published and not self._left_out(inner)
                ]
        return kept

    def _complain_about_conflicts(self, kept: dict[str, dict[str, Any]]) -> None:
        for place, conflict in self.conflicts:
            if place.partition(".")[0] in kept:
                self.unsettled.add(place)
                self.problems.add(self.rules.place, conflict)
        for (newer, older), places in self.renamed.items():
            known = [place for place in places if place.partition(".")[0] in kept]
            self.unsettled.update(known)
            if known:
                also = f" ({', '.join(known[1:])} as well)" if known[1:] else ""
                self.problems.add(
                    self.rules.places.get("moves", self.rules.place),
                    f"no rule settles '{known[0]}'{also}: '{newer}' in {self._last(newer)}, but '{older}' in {self._last(older)}; if that is "
                    f"one type under two names, list {{name: what changed, from: {older}, to: {newer}}} under 'moves', else list "
                    f"{'them' if known[1:] else 'it'} under 'plain: members' to pass {'them as they are' if known[1:] else 'it as it is'}",
                )

    def _last(self, name: str) -> str:
        """The newest revision that has a type."""
        having: list[str] = [revision for revision in self.schemas if name in self._published(revision)]
        return having[0]

    def _complain_about_missing(self, kept: dict[str, dict[str, Any]]) -> None:
        for name, definition in kept.items():
            for inner in sorted({*references(definition)} - kept.keys()):
                self.problems.add(self.rules.place, f"'{inner}' is left out, but '{name}' is kept and refers to it")

    def _complain_about_unused(self) -> None:
        rules = self.rules
        for patterns, verb in (
            (rules.plain_types, "makes no type plain"),
            (rules.plain_members, "makes no member plain"),
            (rules.left_out_types, "leaves out no type"),
            (rules.left_out_members, "leaves out no member"),
            (rules.kept_types, "keeps no type that would be left out"),
        ):
            for pattern in patterns:
                if pattern.place not in self.used:
                    self.problems.remark(pattern.place, f"'{pattern.text}' {verb}")
        for place, member in self.needless.items():
            self.problems.remark(
                place,
                f"'{member}' is plain in every revision, although what they say of it can be united; take this out",
            )


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value

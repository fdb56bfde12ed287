"""Walks the canonical schema and a revision's side by side, and says for every type what has to be done to send a value of it.

Rule: the two are compared place by place, never name by name: a revision may have a type inline that another one names.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping, Sequence

from ..schemas.methods import Root
from ..schemas.references import reference, referred
from ..schemas.shapes import (
    Definitions,
    Node,
    alternatives,
    constant,
    end_name,
    is_union,
    json_types,
    resolved,
    takes_null,
    values,
)
from .fits import RULES, Fitting
from .plan import Answers, Call, Case, Complaint, Fill, ObjectFunction, Replacement, Step, UnionFunction
from .telling_apart import Test, tell_apart


class Walk:
    """One walk from all roots. Functions are named by key until it is known which of them are the same.

    Attributes:
        complaints: every answer that is missing; the same one may stand there more than once.
        used: the answers that were asked for.
        objects, unions: the functions by key; `Call.function` is a key.
        labels: the name that a key's definition has in the revision, or its place.
    """

    def __init__(self, canonical: Definitions, published: Definitions, answers: Answers, many: frozenset[str]) -> None:
        self.canonical = canonical
        self.published = published
        self.answers = answers
        self.many = many
        self.fitting = Fitting(canonical, published, answers)
        self.complaints = self.fitting.complaints
        self.used = self.fitting.used
        self.objects: dict[str, ObjectFunction] = {}
        self.unions: dict[str, UnionFunction] = {}
        self.labels: dict[str, str] = {}
        self.unanswered: dict[
            str, dict[str, str]
        ] = {}  # what a union lacks, and what may be the same under another name
        self.open: set[str] = set()

    def root(self, root: Root) -> Call | None:
        """Walk from one root; what is called for it, or None for one that stays as it is."""
        if root.canonical not in self.canonical:
            self._complain(
                f"'{root.canonical}', which the canonical vocabulary leaves out, is sent",
                "kept",
                f"list it under 'kept: types' in {RULES}",
            )
            return None
        name = end_name(root.canonical, self.canonical)
        base = self.published.get(root.base or "", {}).get("properties", {})
        call = self._call(reference(name), reference(root.published), name, base)
        self._complain_about_kinds(call)
        if call is not None and call.many:
            inside = self.objects[call.function].spread if call.function in self.objects else None
            self._complain_about_several(f"{name}.{inside.member}" if inside is not None else name)
        return call

    def _complain(self, what: str, section: str, remedy: str = "", member: str = "") -> None:
        self.complaints.append(Complaint(what, section, remedy, member))

    def _complain_about_several(self, place: str) -> None:
        self._complain(
            f"'{place}', where an answer may give several values, takes one",
            "refused",
            f"say what is sent with a concern that has 'replaces: {place}'",
        )

    def _complain_about_kinds(self, call: Call | None) -> None:
        """Complain about what a union lacks where values of it are sent, since there something else may be done about it."""
        while call is not None and call.inner is not None:
            call = call.inner
        key = "" if call is None else call.function
        for member, other in self.unanswered.get(key, {}).items():
            moved = f"if it is '{other}' under another name, list {{name: what changed, from: {other}, to: {member}}} under 'moves'; else "
            self._complain(
                f"'{member}', a member of '{self.unions[key].type_name}', is lacking",
                "refused",
                f"{moved if other else ''}say what is sent with a concern that has 'replaces: {member}', or list it under 'refused: types' "
                f"in {RULES} to make it an error",
            )

    def gives_many(self) -> frozenset[str]:
        """The keys of the functions that give a list of values for one."""
        objects = {key for key, function in self.objects.items() if function.spread is not None}
        return frozenset(objects | {key for key, function in self.unions.items() if function.many})

    def _call(self, ours: Node, theirs: Node, place: str, base: Mapping[str, Node] | None = None) -> Call | None:
        """What is done with a value of a canonical shape where the revision has another; None where nothing is."""
        if referred(ours) in self.answers.unsettled:
            return None
        if is_union(ours, self.canonical):
            return self._union(ours, theirs, place, base or {})
        shape, inner = resolved(ours, self.canonical), resolved(theirs, self.published)
        if "properties" in shape:
            opened = [pattern for pattern in self.answers.open if fnmatch.fnmatchcase(referred(ours) or place, pattern)]
            if opened:
                self.used.update(opened)
                return None
            return self._object(referred(ours) or place, theirs, base or {})
        for keyword, form in (("items", "each"), ("additionalProperties", "values")):
            if keyword in shape:
                return self._container(form, shape[keyword], inner.get(keyword, {}), referred(ours), place)
        return None

    def _container(self, form: str, ours: Node, theirs: Node, name: str | None, place: str) -> Call | None:
        # Only what has a name can contain itself; a list in a list is no more than that.
        place = name or place
        if name in self.open:
            self._complain(
                f"'{place}' contains itself with no object in between", "plain", f"list it under 'plain' in {RULES}"
            )
            return None
        if name is not None:
            self.open.add(name)
        inner = self._call(ours, theirs, place)
        if name is not None:
            self.open.discard(name)
        if inner is None:
            return None
        if inner.many and form == "values":
            self._complain_about_several(place)
        return Call(form, inner=inner)

    # Objects.

    def _object(self, name: str, theirs: Node, base: Mapping[str, Node]) -> Call:
        name = end_name(name, self.canonical)
        key = self._key(name, theirs, base)
        if key not in self.objects:
            self.labels[key] = referred(theirs) or name
            self.objects[key] = ObjectFunction(key, name, None, (), (), (), (), ())  # for a type that contains itself
            self.objects[key] = self._object_function(key, name, resolved(theirs, self.published), base)
        spread = self.objects[key].spread is not None or key in self.many
        return Call("one", key, many=spread)

    def _object_function(self, key: str, name: str, theirs: Node, base: Mapping[str, Node]) -> ObjectFunction:
        ours = self.canonical[name]
        defined: Mapping[str, Node] | None = None
        if "properties" in theirs:
            # What must not be there is as good as not defined.
            defined = {
                member: node
                for member, node in {**base, **theirs["properties"]}.items()
                if values(resolved(node, self.published)) != []
            }
        kept = None if defined is None else tuple(sorted(defined))
        required = {member for member in theirs.get("required", []) if not self._answered_fill(name, member)}
        steps, fits, spread = [], [], None
        for member, shape in sorted(ours["properties"].items()):
            if defined is None or member not in defined or f"{name}.{member}" in self.answers.unsettled:
                continue
            call = self._call(shape, defined[member], name + member[:1].upper() + member[1:])
            fit = self.fitting.fit(name, member, shape, defined[member], call, required=member in required)
            if fit is not None:
                fits.append(fit)
            if fit is None or fit.check is None or self._has_objects(defined[member]):
                self._complain_about_kinds(call)
            if call is None:
                continue
            step = self._step(name, member, call, defined[member])
            if step.call.many and not (step.gathered or step.listed):
                if spread is not None or member not in ours.get("required", []):
                    self._complain_about_several(f"{name}.{member}")
                spread = step
            else:
                steps.append(step)
        return ObjectFunction(
            name=key,
            type_name=name,
            kept=kept,
            nullable=tuple(
                member
                for member in kept or ()
                if takes_null((defined or {})[member], self.published)
                or (
                    member in required
                    and takes_null(ours["properties"].get(member, {"type": "object"}), self.canonical)
                )
            ),
            lacks=tuple(member for member in sorted(ours["properties"]) if defined is None or member not in defined),
            fits=tuple(fits),
            steps=tuple(steps),
            fills=tuple(self._fills(name, theirs, ours)),
            spread=spread,
        )

    def _step(self, owner: str, member: str, call: Call, theirs: Node) -> Step:
        place = f"{owner}.{member}"
        if call.many and place in self.answers.replaced:
            self.used.add(place)
            return Step(member, call, gathered=self.answers.replaced[place])
        return Step(member, call, listed=call.many and self.fitting.takes_list(theirs))

    def _fills(self, name: str, theirs: Node, ours: Node) -> Iterator[Fill]:
        # A member that all revisions of a type require is filled as well: whoever sends may rely on the answer.
        for member in sorted(theirs.get("required", [])):
            place = f"{name}.{member}"
            needed = member not in ours.get("required", [])
            supplied = [pattern for pattern in self.answers.supplied if fnmatch.fnmatchcase(place, pattern)]
            self.used.update(supplied if needed else ())
            answered = self._answered_fill(name, member)
            if answered:
                self.used.add(answered)
                yield Fill(member, self.answers.filled[answered])
            elif needed and not supplied:
                self._complain(
                    f"'{place}' is required",
                    "supplied",
                    f"say what fills it with a concern that has 'fills: {place}'; or where that depends on what else is sent, put it in with "
                    f"a concern that has 'adjusts: {name}', and list '{place}' under 'supplied: members' in {RULES}; or list it there alone "
                    "where whoever sends one has put it in",
                    place,
                )

    def _answered_fill(self, owner: str, member: str) -> str:
        """Under which name the inventory fills a member; empty where it does not."""
        return next((key for key in (f"{owner}.{member}", member) if key in self.answers.filled), "")

    # Unions.

    def _union(self, ours: Node, theirs: Node, place: str, base: Mapping[str, Node]) -> Call | None:
        if not self._kinds(ours):
            return None
        name = referred(ours) or self._name_of_items(ours) or place
        key = self._key(name, theirs, base)
        if key not in self.unions:
            self.labels[key] = name
            self.unions[key] = UnionFunction(key, name, (), (), (), False)
            self.unions[key] = self._union_function(key, name, ours, theirs, base)
        return Call("one", key, many=self.unions[key].many or key in self.many)

    def _name_of_items(self, ours: Node) -> str | None:
        """An inline union of some types and of lists of the same types is named like what is in the lists."""
        branches = alternatives(ours, self.canonical)
        for branch in branches:
            items = resolved(branch, self.canonical).get("items", {})
            if is_union(items, self.canonical) and all(
                item in branches for item in alternatives(items, self.canonical)
            ):
                return referred(items)
        return None

    def _union_function(self, key: str, name: str, ours: Node, theirs: Node, base: Mapping[str, Node]) -> UnionFunction:
        named = {kind: resolved(reference(kind), self.canonical) for kind in self._kinds(ours)}
        others = [branch for branch in self._branches(ours, self.canonical) if not self._is_listed_object(branch)]
        tests = tell_apart(named)
        if tests is None:
            self._complain(f"nothing tells the members {', '.join(sorted(named))} of '{name}' apart", "plain")
            tests = {}
        cases, replacements, lacks, unanswered = [], [], [], []
        for member, test in tests.items():
            counterpart = self._counterpart(member, test, theirs)
            answered = [answer for answer in (f"{name}.{member}", member) if answer in self.answers.replaced]
            if answered:
                self.used.add(answered[0])
                replacements.append(Replacement(member, test, self.answers.replaced[answered[0]]))
            if counterpart is not None:
                cases.append(Case(member, test, self._object(member, counterpart, base)))
                self._see_single(member, name, counterpart, ours, theirs)
            else:
                lacks.append(member)
                refused = [answer for answer in (f"{name}.{member}", member) if answer in self.answers.refused]
                self.used.update(refused)
                if not answered and not refused:
                    unanswered.append(member)
        self.unanswered[key] = {member: self._namesake(named[member], cases, theirs) for member in unanswered}
        if replacements:
            # What stands for a branch is sent one by one.
            for case in cases:
                if case.call.many:
                    self._complain_about_several(f"{name}.{case.type_name}")
        return UnionFunction(
            name=key,
            type_name=name,
            lacks=tuple(lacks),
            cases=tuple(cases),
            replacements=tuple(replacements),
            takes_list=any(self._is_list_of_kinds(branch) for branch in alternatives(ours, self.canonical)),
            takes_others=bool(others),
        )

    def _see_single(self, member: str, union: str, counterpart: Node, ours: Node, theirs: Node) -> None:
        """Complain about an object that stands by itself, and that the revision takes in lists only, where it takes others alone."""
        alone = [branch for branch in alternatives(theirs, self.published) if referred(branch) is not None]
        if alone and counterpart not in alone and reference(member) in alternatives(ours, self.canonical):
            self._complain(
                f"'{member}', a member of '{union}', is taken in lists only",
                "refused",
                f"say what is sent with a concern that has 'replaces: {union}.{member}'",
            )

    def _kinds(self, ours: Node) -> list[str]:
        """The objects that are members of a union, or of the lists that it takes."""
        branches = self._branches(ours, self.canonical)
        return list(dict.fromkeys(str(referred(branch)) for branch in branches if self._is_listed_object(branch)))

    def _branches(self, node: Node, definitions: Definitions) -> list[Node]:
        """The members of a union, and in place of its lists of objects what is in them."""
        found = []
        for branch in alternatives(node, definitions):
            items = resolved(branch, definitions).get("items")
            inside = [] if items is None else alternatives(items, definitions)
            objects = any("properties" in resolved(item, definitions) for item in inside)
            found += inside if objects else [branch]
        return found

    def _is_list_of_kinds(self, branch: Node) -> bool:
        items = resolved(branch, self.canonical).get("items", {})
        return any(self._is_listed_object(item) for item in alternatives(items, self.canonical))

    def _has_objects(self, theirs: Node) -> bool:
        """Whether the revision takes objects at a place, or in the lists there."""
        branches = (resolved(branch, self.published) for branch in self._branches(theirs, self.published))
        return any("object" in json_types(branch) for branch in branches)

    def _is_listed_object(self, branch: Node) -> bool:
        return referred(branch) is not None and "properties" in resolved(branch, self.canonical)

    def _counterpart(self, name: str, test: Test, theirs: Node) -> Node | None:
        """The revision's branch that is the same thing: by name, else by the constant that tells it from the others."""
        candidates = [branch for branch in self._branches(theirs, self.published) if referred(branch) is not None]
        for branch in candidates:
            published = str(referred(branch))
            if self.answers.aliases.get(published, published) == name:
                return branch
        for branch in candidates:
            member = resolved(branch, self.published).get("properties", {}).get(test.member, {})
            if test.form == "is" and constant(member) == test.value:
                return branch
        return None

    def _namesake(self, node: Node, cases: Sequence[Case], theirs: Node) -> str:
        """The revision's branch that no member of the union is, and that has all that one requires; empty where there is none."""
        met = {self.labels[case.call.function] for case in cases}
        for branch in self._branches(theirs, self.published):
            name = referred(branch) or ""
            members = resolved(branch, self.published).get("properties", {})
            if name and name not in met and {*node.get("required", ["-"])} <= members.keys():
                return name
        return ""

    def _key(self, name: str, theirs: Node, base: Mapping[str, Node]) -> str:
        return json.dumps([name, theirs, sorted(base)], sort_keys=True)

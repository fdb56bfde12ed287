"""Walks the canonical schema and a revision's side by side, and says for every type what has to be done to send a value of it.

Rule: the two are compared place by place, never name by name: a revision may have a type inline that another one names.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping

from ..schemas.methods import Root
from ..schemas.references import reference, referred
from ..schemas.shapes import Definitions, Node, alternatives, constant, end_name, is_union, resolved, takes_null
from .plan import Answers, Call, Case, Fill, ObjectFunction, Replacement, Step, UnionFunction
from .telling_apart import Test, tell_apart


class Walk:
    """One walk from all roots. Functions are named by key until it is known which of them are the same.

    Attributes:
        complaints: every answer that is missing, in the order of the walk; the same one may stand there more than once.
        used: the answers that were asked for.
        objects, unions: the functions by key; `Call.function` is a key.
        labels: the name that a key's definition has in the revision, or its place.
    """

    def __init__(
        self, canonical: Definitions, published: Definitions, answers: Answers, revision: str, many: frozenset[str]
    ) -> None:
        self.canonical = canonical
        self.published = published
        self.answers = answers
        self.revision = revision
        self.many = many
        self.complaints: list[str] = []
        self.used: set[str] = set()
        self.objects: dict[str, ObjectFunction] = {}
        self.unions: dict[str, UnionFunction] = {}
        self.labels: dict[str, str] = {}
        self.open: set[str] = set()

    def root(self, root: Root) -> Call | None:
        """Walk from one root; what is called for it, or None for one that stays as it is."""
        if root.canonical not in self.canonical:
            self.complaints.append(
                f"'{root.canonical}' is sent in {self.revision}, and the canonical vocabulary leaves it out"
            )
            return None
        name = end_name(root.canonical, self.canonical)
        base = self.published.get(root.base or "", {}).get("properties", {})
        call = self._call(reference(name), reference(root.published), name, base)
        if call is not None and call.many:
            inside = self.objects[call.function].spread if call.function in self.objects else None
            where = f"{name}.{inside.member}" if inside is not None else name
            self.complaints.append(
                f"'{where}' takes one value in {self.revision} where an answer may give several; "
                "specs/variance answers nothing for it"
            )
        return call

    def gives_many(self) -> frozenset[str]:
        """The keys of the functions that give a list of values for one."""
        objects = {key for key, function in self.objects.items() if function.spread is not None}
        return frozenset(objects | {key for key, function in self.unions.items() if function.many})

    def _call(self, ours: Node, theirs: Node, place: str, base: Mapping[str, Node] | None = None) -> Call | None:
        """What is done with a value of a canonical shape where the revision has another; None where nothing is."""
        if is_union(ours, self.canonical):
            return self._union(ours, theirs, place, base or {})
        shape, inner = resolved(ours, self.canonical), resolved(theirs, self.published)
        if "properties" in shape:
            return self._object(referred(ours) or place, theirs, base or {})
        for keyword, form in (("items", "each"), ("additionalProperties", "values")):
            if keyword in shape:
                return self._container(form, shape[keyword], inner.get(keyword, {}), referred(ours) or place)
        return None

    def _container(self, form: str, ours: Node, theirs: Node, place: str) -> Call | None:
        if place in self.open:
            self.complaints.append(f"'{place}' contains itself with no object in between")
            return None
        self.open.add(place)
        inner = self._call(ours, theirs, place)
        self.open.discard(place)
        if inner is None:
            return None
        if inner.many and form == "values":
            self.complaints.append(f"a value of '{place}' is one in {self.revision} where an answer may give several")
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
            defined = {**base, **theirs["properties"]}
        kept = None if defined is None else tuple(sorted(defined))
        steps, objects_only, spread = [], [], None
        for member, shape in sorted(ours["properties"].items()):
            if defined is None or member not in defined:
                continue
            if not shape and defined[member].get("type") == "object":
                objects_only.append(member)
            call = self._call(shape, defined[member], name + member[:1].upper() + member[1:])
            if call is None:
                continue
            step = self._step(name, member, call, defined[member])
            if step.call.many and not (step.gathered or step.listed):
                if spread is not None or member not in ours.get("required", []):
                    self.complaints.append(
                        f"'{name}.{member}' takes one value in {self.revision} where an answer may give several; "
                        "specs/variance answers nothing for it"
                    )
                spread = step
            else:
                steps.append(step)
        return ObjectFunction(
            name=key,
            type_name=name,
            kept=kept,
            nullable=tuple(member for member in kept or () if takes_null((defined or {})[member], self.published)),
            lacks=tuple(member for member in sorted(ours["properties"]) if defined is None or member not in defined),
            objects_only=tuple(objects_only),
            steps=tuple(steps),
            fills=tuple(self._fills(name, theirs, ours)),
            spread=spread,
        )

    def _step(self, owner: str, member: str, call: Call, theirs: Node) -> Step:
        place = f"{owner}.{member}"
        if call.many and place in self.answers.replaced:
            self.used.add(place)
            return Step(member, call, gathered=self.answers.replaced[place])
        return Step(member, call, listed=call.many and self._takes_list(theirs, self.published))

    def _fills(self, name: str, theirs: Node, ours: Node) -> Iterator[Fill]:
        # A member that all revisions of a type require is filled as well: whoever sends may rely on the answer.
        for member in sorted(theirs.get("required", [])):
            place = f"{name}.{member}"
            needed = member not in ours.get("required", [])
            supplied = [pattern for pattern in self.answers.supplied if fnmatch.fnmatchcase(place, pattern)]
            self.used.update(supplied if needed else ())
            answered = [key for key in (place, member) if key in self.answers.filled]
            if answered:
                self.used.add(answered[0])
                yield Fill(member, self.answers.filled[answered[0]])
            elif needed and not supplied:
                self.complaints.append(
                    f"'{place}' is required in {self.revision}; specs/variance answers nothing that fills it"
                )

    # Unions.

    def _union(self, ours: Node, theirs: Node, place: str, base: Mapping[str, Node]) -> Call | None:
        if not any(self._is_listed_object(branch) for branch in alternatives(ours, self.canonical)):
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
            if referred(items) and all(item in branches for item in alternatives(items, self.canonical)):
                return referred(items)
        return None

    def _union_function(self, key: str, name: str, ours: Node, theirs: Node, base: Mapping[str, Node]) -> UnionFunction:
        named = {}
        for branch in alternatives(ours, self.canonical):
            if self._is_listed_object(branch):
                named[str(referred(branch))] = resolved(branch, self.canonical)
        takes_list = self._takes_list(ours, self.canonical)
        if takes_list:
            self._check_items(name, ours, named)
        tests = tell_apart(named)
        if tests is None:
            self.complaints.append(f"the members of '{name}' cannot be told apart: {', '.join(sorted(named))}")
            tests = {}
        cases, replacements, lacks = [], [], []
        for member, test in tests.items():
            counterpart = self._counterpart(member, test, theirs)
            answered = [answer for answer in (f"{name}.{member}", member) if answer in self.answers.replaced]
            if answered:
                self.used.add(answered[0])
                replacements.append(Replacement(member, test, self.answers.replaced[answered[0]]))
            if counterpart is not None:
                cases.append(Case(member, test, self._object(member, counterpart, base)))
                if cases[-1].call.many:
                    self.complaints.append(
                        f"a '{member}' is one member of '{name}' in {self.revision} where an answer may give several"
                    )
            else:
                lacks.append(member)
                refused = [answer for answer in (f"{name}.{member}", member) if answer in self.answers.refused]
                self.used.update(refused)
                if not answered and not refused:
                    self.complaints.append(
                        f"'{member}' is a member of '{name}' that {self.revision} lacks; specs/variance answers nothing for it"
                    )
        return UnionFunction(key, name, tuple(lacks), tuple(cases), tuple(replacements), takes_list)

    def _is_listed_object(self, branch: Node) -> bool:
        return referred(branch) is not None and "properties" in resolved(branch, self.canonical)

    def _takes_list(self, node: Node, definitions: Definitions) -> bool:
        return any("items" in resolved(branch, definitions) for branch in alternatives(node, definitions))

    def _check_items(self, name: str, ours: Node, named: Mapping[str, Node]) -> None:
        for branch in alternatives(ours, self.canonical):
            items = resolved(branch, self.canonical).get("items", {})
            inside = {referred(item) for item in alternatives(items, self.canonical)} if items else set()
            for other in sorted(str(item) for item in inside - named.keys()):
                self.complaints.append(f"'{other}' is in the lists that '{name}' takes, but no member of it")

    def _counterpart(self, name: str, test: Test, theirs: Node) -> Node | None:
        """The revision's branch that is the same thing: by name, else by the constant that tells it from the others."""
        candidates = [branch for branch in alternatives(theirs, self.published) if referred(branch) is not None]
        for branch in candidates:
            published = str(referred(branch))
            if self.answers.aliases.get(published, published) == name:
                return branch
        for branch in candidates:
            member = resolved(branch, self.published).get("properties", {}).get(test.member, {})
            if test.form == "is" and constant(member) == test.value:
                return branch
        return None

    def _key(self, name: str, theirs: Node, base: Mapping[str, Node]) -> str:
        return json.dumps([name, theirs, sorted(base)], sort_keys=True)

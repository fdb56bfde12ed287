"""Answers held against what they name: the schema of their revision, each other, and what every adapter has.

Rule: what is said twice must agree, and what is named must be there. A contradiction is a fault; while the answer waits for a review, it is
a mark, since what was copied was another revision's.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jinja2

from ..canonical.merge import published_aliases
from ..canonical.rules import Rules
from ..inventory.concerns import Answer, Concern
from ..inventory.loading import Inventory
from ..reading.located import Place, Problems
from ..schemas.facts import Facts, read_facts, takes
from ..templates.macros import render_body
from .headers import fault_of_header, fault_of_status

_CHECK = "check_"
_TAKING = "(self, message: JsonObject) -> None"
# What every adapter has that checks a request in one way; its other checks are of other messages, or run these.
_CHECKS = frozenset({"check_method", "check_params"})


def check_agreement(
    inventory: Inventory,
    schemas: Mapping[str, Mapping[str, Any]],
    rules: Rules,
    members: frozenset[str],
    environment: jinja2.Environment | None,
    removed: Sequence[str],
    problems: Problems,
) -> None:
    """Hold every answer against what it names.

    Args:
        inventory: what could be read of it; where concerns are missing, nobody is blamed for naming one that is not there.
        schemas: the corrected schema of each revision, oldest first.
        rules: how the canonical vocabulary is made, which knows types under other names.
        members: what every adapter has without a concern.
        environment: from `macros.make_environment`; None where the macros have faults, or nobody could check them.
        removed: revisions that may come back. Where there are any, what no schema has is a mark, since theirs may have it.
        problems: receives what does not agree, at its place.
    """
    concerns = {concern.name: concern for area in inventory.areas for concern in area.concerns}
    facts = {version: read_facts(schema) for version, schema in schemas.items()}
    allowed = {
        concern.among: frozenset(value for known in facts.values() for value in known.values_at(concern.among))
        for concern in concerns.values()
        if concern.among
    }
    ordered = {
        concern.orders: any(known.values_of(concern.orders) for known in facts.values())
        for concern in concerns.values()
        if concern.orders
    }
    anywhere = frozenset(
        path
        for concern in concerns.values()
        for paths in concern.reads.values()
        for path in paths
        if any(known.has_member(path) for known in facts.values())
    )
    for concern in concerns.values():
        _check_declaration(concern, facts, problems.mark if removed else problems.add)
        if inventory.whole:
            _check_named_concerns(concern, concerns, problems)
    for version, schema in schemas.items():
        agreement = _Agreement(
            version=version,
            facts=facts[version],
            elsewhere=_words(facts.values()) - _words([facts[version]]),
            aliases={canonical: published for published, canonical in published_aliases(schema, rules).items()},
            concerns=concerns,
            whole=inventory.whole,
            members=members,
            environment=environment,
            problems=problems,
            allowed=allowed,
            ordered=ordered,
            anywhere=anywhere,
        )
        agreement.check()


def _check_named_concerns(concern: Concern, concerns: Mapping[str, Concern], problems: Problems) -> None:
    """The other concerns that a concern names, whatever is answered."""
    for key, names in (("needs", (concern.needs,)), ("excludes", concern.excludes)):
        for name in names:
            if name == concern.name:
                problems.add(concern.place_of(key), f"'{name}' {key} itself; allowed: another concern")
            elif name and name not in concerns:
                problems.add(concern.place_of(key), f"'{name}' is not a concern{_meant(name, concerns)}")
    if concern.names == "concerns":
        for name, row in concern.rows.items():
            if name not in concerns:
                problems.add(row.place, f"'{name}' is not a concern{_meant(name, concerns)}")


def _check_declaration(concern: Concern, facts: Mapping[str, Facts], complain: Callable[[Place, str], None]) -> None:
    """What a concern itself names, whatever is answered; `complain` is told of what no schema has."""
    for row in concern.rows.values():
        if row.defined and not any(row.defined in known.definitions for known in facts.values()):
            known = [name for one in facts.values() for name in one.error_codes]
            complain(row.place, f"'{row.defined}' is a type of no schema{_meant(row.defined, known)}")
    if concern.orders and not any(known.values_of(concern.orders) for known in facts.values()):
        enumerations = [name for known in facts.values() for name in known.definitions if known.values_of(name)]
        meant = _meant(concern.orders, enumerations)
        complain(concern.place_of("orders"), f"'{concern.orders}' is a type with values in no schema{meant}")
    if concern.among and not any(known.values_at(concern.among) for known in facts.values()):
        complain(
            concern.place_of("among"), f"'{concern.among}' is a member with values in no schema; allowed: Type.member"
        )
    for choice, paths in concern.reads.items():
        for path in paths:
            if not any(known.has_member(path) for known in facts.values()):
                place = concern.choice_places[choice]
                complain(place, f"choice '{choice}' reads '{path}', which no schema has; allowed: Type.member")


@dataclasses.dataclass(frozen=True)
class _Agreement:
    """Checks the answers of one revision.

    Attributes:
        elsewhere: words of the wire that other schemas have and this one nowhere.
        allowed: the values that any schema gives a member, by its path.
        ordered: whether any schema gives a type values, by its name.
        anywhere: the members that choices read and some schema has; what none has is said where it is declared.
        wrong: the concerns whose answers have been complained about; nothing follows from those.
    """

    version: str
    facts: Facts
    elsewhere: frozenset[str]
    aliases: Mapping[str, str]
    concerns: Mapping[str, Concern]
    whole: bool
    members: frozenset[str]
    environment: jinja2.Environment | None
    problems: Problems
    allowed: Mapping[str, frozenset[str]]
    ordered: Mapping[str, bool]
    anywhere: frozenset[str]
    wrong: set[str] = dataclasses.field(default_factory=set)

    def check(self) -> None:
        """Complain about every answer that contradicts something."""
        answered = [
            (concern, concern.answers[self.version])
            for concern in self.concerns.values()
            if self.version in concern.answers
        ]
        naming_others = [(concern, answer) for concern, answer in answered if concern.names == "concerns"]
        for concern, answer in answered:
            if concern.names != "concerns":
                self._say(answer, [concern.name], self._contradictions(concern, answer))
        self._check_needs(answered)
        self._check_uses(answered)
        for concern, answer in naming_others:
            self._say(answer, [concern.name], self._named_concerns(concern, answer))

    def _say(self, answer: Answer, names: Iterable[str], found: Iterable[tuple[Place, str]]) -> None:
        for place, message in found:
            (self.problems.mark if answer.review else self.problems.add)(place, message)
            self.wrong.update(names)

    def _contradictions(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        checks: dict[str, Callable[[Concern, Answer], Iterable[tuple[Place, str]]]] = {
            "request": self._request,
            "notification": self._notification,
            "header": self._header,
            "checks": self._checks,
            "requests": self._requests,
            "request members": self._request_members,
            "meta keys": self._meta_keys,
            "error codes": self._error_codes,
            "error kinds": self._error_kinds,
            "status": self._status,
            "statuses": self._statuses,
        }
        if concern.names:
            yield from checks[concern.names](concern, answer)
        if concern.fills and answer.value is not None:
            yield from self._filled(concern, answer)
        if concern.orders:
            yield from self._ordered(concern, answer)
        if concern.among:
            yield from self._taken(concern, answer)
        if concern.excludes and answer.value not in (None, False):
            yield from self._excluded(concern, answer)
        if concern.kind == "choice":
            yield from self._read(concern, answer)

    # Values.

    def _request(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        yield from self._known(answer, "is", answer.value, "a request of a client", self.facts.requests)

    def _notification(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        yield from self._known(answer, "is", answer.value, "a notification of a client", self.facts.notifications)

    def _header(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        if isinstance(answer.value, str) and (fault := fault_of_header(answer.value)):
            yield _at(answer, "is"), fault
        for other in self.concerns.values():
            if other.name == concern.name:
                return
            given = self._answer_of(other.name)
            if other.names == concern.names and given is not None and _alike(given.value, answer.value):
                yield (
                    _at(answer, "is"),
                    f"'{answer.value}' is what '{other.name}' names in {self.version}; allowed: another header",
                )

    def _checks(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        of_concerns = {name for name, other in self.concerns.items() if other.signature == _TAKING}
        known = sorted({name for name in of_concerns if name.startswith(_CHECK)} | (self.members & _CHECKS))
        for name in answer.value if isinstance(answer.value, tuple) else ():
            if name not in known and self.whole and self.members:
                yield _at(answer, "is"), f"'{name}' is no check of a request; checks: {', '.join(known)}"
                return
        if self.whole and self.members and isinstance(answer.value, tuple) and sorted(answer.value) != known:
            yield (
                _at(answer, "is"),
                f"'{concern.name}' does not have each check once; allowed: {', '.join(known)}, in any order",
            )

    def _filled(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        owner, _, member = concern.fills.rpartition(".")
        owner = self._published(owner)
        for name, node in self.facts.definitions.items():
            if owner in ("", name) and member in node.get("properties", {}):
                inner = node["properties"][member]
                if not takes(inner, answer.value, self.facts.definitions):
                    yield (
                        _at(answer, "is"),
                        f"{name}.{member} of {self.version} does not take {answer.value!r}: {inner}",
                    )
                    return

    def _ordered(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        given = answer.value if isinstance(answer.value, tuple) else ()
        defined = self.facts.values_of(self._published(concern.orders))
        if not self.ordered[concern.orders]:
            return  # a type that is not there is said where it is named
        if sorted(given) != sorted(defined):
            allowed = f"exactly {', '.join(defined)}, in their order" if defined else "[]"
            lacking = [value for value in defined if value not in given]
            wrong = f"lacks {', '.join(lacking)}" if lacking else f"has more than {concern.orders}"
            yield _at(answer, "is"), f"'{concern.name}' {wrong} of {self.version}; allowed: {allowed}"

    def _taken(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        owner, _, member = concern.among.rpartition(".")
        allowed = self.facts.values_at(f"{self._published(owner)}.{member}") or sorted(self.allowed[concern.among])
        unknown = [item for item in answer.value if item not in allowed] if isinstance(answer.value, tuple) else []
        if unknown and allowed:
            known = f"{concern.among} of {self.version} has {', '.join(allowed)}"
            yield _at(answer, "is"), f"'{unknown[0]}' is not a value there{_meant(unknown[0], allowed)}; {known}"

    def _excluded(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        for name in concern.excludes:
            other = self._answer_of(name) if name != concern.name else None
            if other is not None and _is_given(other):
                allowed = "no" if answer.value is True else "none"
                what = f"'{concern.name}' excludes '{name}', which {self.version} answers with {_shown(other)}"
                yield _at(answer, "is"), f"{what}; allowed for one of them: {allowed}"
                return

    def _status(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        if fault := fault_of_status(answer.value):
            yield _at(answer, "is"), fault

    # Tables.

    def _statuses(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        for row, value in answer.rows.items():
            if fault := fault_of_status(value):
                yield _at(answer, row), fault

    def _requests(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        for row in answer.rows:
            yield from self._known(answer, row, row, "a request of a client", self.facts.requests)

    def _request_members(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        yield from self._requests(concern, answer)
        for row, member in answer.rows.items():
            if row in self.facts.requests:
                members = self.facts.members_of(self.facts.requests[row].params or "")
                yield from self._known(answer, row, member, f"a member of the params of {row}", members)

    def _meta_keys(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        for row, declared in concern.rows.items():
            if row in answer.rows and declared.stated and row not in self.facts.meta_keys:
                yield _at(answer, row), f"the schema of {self.version} has no '{row}' in `_meta`; allowed: none"
            if row not in answer.rows and row in self.facts.meta_keys:
                yield _at(answer, row), f"the schema of {self.version} has '{row}' in `_meta`; allowed: where it stands"
        for key in sorted(self.facts.meta_keys - concern.rows.keys()):
            yield (
                answer.place,
                f"the schema of {self.version} has '{key}' in `_meta`, and '{concern.name}' has no such row; declare it",
            )

    def _error_codes(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        defined = {row.defined for row in concern.rows.values()}
        for name, row in concern.rows.items():
            code = self.facts.error_codes.get(row.defined)
            if code is not None and answer.rows.get(name) != code:
                given = answer.rows.get(name, "none")
                yield _at(answer, name), f"'{name}' is {given}; {row.defined} of {self.version} has {code}"
        for error, code in self.facts.error_codes.items():
            if error not in defined:
                yield (
                    answer.place,
                    f"the schema of {self.version} has {error} with the code {code}, and '{concern.name}' has no row for it; "
                    f"declare one with 'defined: {error}'",
                )

    def _error_kinds(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        tables = [other for other in self.concerns.values() if other.names == "error codes"]
        if not self.whole or any(self.version not in table.answers for table in tables):
            return
        kinds = [row for table in tables for row in table.answers[self.version].rows]
        for row, kind in answer.rows.items():
            yield from self._known(answer, row, kind, "a kind of error", kinds)

    def _named_concerns(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        for row in concern.rows:
            named = None if row in self.wrong else self._answer_of(row)
            if named is not None and _is_given(named) != (row in answer.rows):
                allowed = "none" if row in answer.rows else "text"
                yield _at(answer, row), f"{self.version} answers '{row}' with {_shown(named)}; allowed here: {allowed}"

    # Choices.

    def _read(self, concern: Concern, answer: Answer) -> Iterator[tuple[Place, str]]:
        place = _at(answer, "choice")
        for path in concern.reads.get(answer.choice, ()):
            name, dot, members = path.partition(".")
            if path in self.anywhere and not self.facts.has_member(self._published(name) + dot + members):
                yield place, f"'{answer.choice}' reads '{path}', which the schema of {self.version} has not"
        if concern.adjusts or concern.replaces or self.environment is None:
            # What it takes are canonical values, whose words are those of all revisions.
            return
        body = render_body(self.environment, concern, answer.choice, answer.arguments)
        for word in sorted(_texts(body) & self.elsewhere):
            yield (
                place,
                f"the code of '{answer.choice}' has \"{word}\", which is of other revisions and nowhere in the schema of "
                f"{self.version}",
            )

    def _check_needs(self, answered: Sequence[tuple[Concern, Answer]]) -> None:
        """Complain about what needs another answer: at that one, where several need it, else where it is needed."""
        lacking: dict[str, list[tuple[Concern, Answer]]] = {}
        for concern, answer in answered:
            needed = self._answer_of(concern.needs)
            if needed is not None and answer.value not in (None, False) and not _is_given(needed):
                lacking.setdefault(concern.needs, []).append((concern, answer))
        for name, users in lacking.items():
            needed = self.concerns[name].answers[self.version]
            concern, answer = users[0]
            said = f"which {self.version} answers with {_shown(needed)}"
            if len(users) == 1:
                allowed = "no" if answer.value is True else "none"
                message = f"'{concern.name}' needs '{name}', {said}; allowed: {allowed}"
                self._say(answer, [concern.name], [(_at(answer, "is"), message)])
            else:
                listed = ", ".join(f"'{user.name}'" for user, _ in users)
                message = f"{listed} need '{name}', {said}; allowed: yes, or no (or none) in each of them"
                self._say(needed, [name, *(user.name for user, _ in users)], [(_at(needed, "is"), message)])

    def _check_uses(self, answered: Sequence[tuple[Concern, Answer]]) -> None:
        """Complain about code that uses what is answered with none: at that answer, where it is wanted by several, else at the choice."""
        uses = {concern.name: self._unanswered(concern, answer) for concern, answer in answered}
        wanted_by: dict[str, list[str]] = {}
        for user, names in uses.items():
            for name in names if len(names) == 1 else ():
                wanted_by.setdefault(name, []).append(user)
        for concern, answer in answered:
            names = uses[concern.name]
            users = wanted_by.get(concern.name, [])
            if len(users) > 1:
                listed = " and ".join(f"'{user}'" for user in users)
                message = f"'{concern.name}' is none, and the code of {listed} in {self.version} uses it; allowed: {concern.type.given if concern.type else ''}"
                self._say(answer, [concern.name, *users], [(_at(answer, "is"), message)])
            elif len(names) > 1 or any(len(wanted_by[name]) == 1 for name in names):
                listed = " and ".join(f"'{name}'" for name in names)
                message = f"the code of '{answer.choice}' uses {listed}, which {self.version} answers with none"
                self._say(answer, [concern.name, *names], [(_at(answer, "choice"), message)])

    def _unanswered(self, concern: Concern, answer: Answer) -> list[str]:
        """The values that the code of a choice uses, and that the revision answers with none."""
        if concern.kind != "choice" or concern.adjusts or concern.replaces or self.environment is None:
            return []
        body = render_body(self.environment, concern, answer.choice, answer.arguments)
        used = {name: self._answer_of(name) for name in sorted(_attributes(body)) if name in self.concerns}
        return [
            name
            for name, given in used.items()
            if given is not None and self.concerns[name].kind == "value" and given.value is None
        ]

    # What all of them use.

    def _answer_of(self, concern: str) -> Answer | None:
        """What the revision answers to another concern, where there is such a one and its answer could be read."""
        return self.concerns[concern].answers.get(self.version) if concern in self.concerns else None

    def _published(self, canonical: str) -> str:
        """What the revision calls a canonical type."""
        return self.aliases.get(canonical, canonical)

    def _known(
        self, answer: Answer, key: str, name: object, what: str, known: Iterable[str]
    ) -> Iterator[tuple[Place, str]]:
        if isinstance(name, str) and name not in (names := tuple(known)):
            yield _at(answer, key), f"'{name}' is not {what} in {self.version}{_meant(name, names)}"


def _alike(one: object, other: object) -> bool:
    """Whether two names are of one header, in which capitals do not count."""
    return isinstance(one, str) and isinstance(other, str) and one.lower() == other.lower()


def _at(answer: Answer, key: str) -> Place:
    return answer.places.get(key, answer.place)


def _is_given(answer: Answer) -> bool:
    return bool(answer.rows or answer.choice) or answer.value not in (None, False)


def _shown(answer: Answer) -> str:
    return "none" if answer.value is None else "no" if answer.value is False else "yes"


def _meant(name: str, known: Iterable[str]) -> str:
    """What may be meant, as the end of a complaint."""
    near = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3, cutoff=0.5)
    return f"; near: {', '.join(near)}" if near else ""


def _words(facts: Iterable[Facts]) -> frozenset[str]:
    """The words of the wire that a schema has: methods, keys of `_meta`, members."""
    return frozenset(word for one in facts for word in (*one.methods, *one.meta_keys, *one.members))


def _nodes(body: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(f"def method():\n{textwrap.indent(body, '    ')}")))


def _attributes(body: str) -> set[str]:
    """What the body of a method reads from its adapter."""
    attributes = (node for node in _nodes(body) if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "self"}


def _texts(body: str) -> set[str]:
    """The texts that the body of a method has as constants, but for those that an argument is compared with."""
    nodes = _nodes(body)
    compared = {
        id(other)
        for node in nodes
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name)
        for other in node.comparators
    }
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in compared)
    return {node.value for node in constants if isinstance(node.value, str)}

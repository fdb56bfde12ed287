"""What makes the values of a member ones that a revision takes: by rule where a rule is sound, else by what the inventory answers.

Rule: nothing is sent that the revision does not take. One value becomes a list where only lists are taken; a value that only hints is
left out; for everything else somebody has to say what is sent, or that it is an error.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from ..schemas.references import referred
from ..schemas.shapes import Definitions, Node, alternatives, is_object, json_types, resolved
from .plan import Answers, Call, Complaint, Fit
from .values import NULL, check, lacking

RULES = "specs/canonical.yaml"


class Fitting:
    """Compares the values of members, and remembers what is missing.

    Attributes:
        complaints: every answer that is missing.
        used: the answers that were asked for.
    """

    def __init__(self, canonical: Definitions, published: Definitions, answers: Answers) -> None:
        self.canonical = canonical
        self.published = {name: _outside(name, published, answers) for name in published}
        self.answers = answers
        self.complaints: list[Complaint] = []
        self.used: set[str] = set()

    def fit(
        self, owner: str, member: str, ours: Node, theirs: Node, call: Call | None, *, required: bool
    ) -> Fit | None:
        """What is done with the value of a member.

        Args:
            owner: the canonical type.
            member: its name.
            ours: its canonical shape.
            theirs: its shape in the revision.
            call: what is done with the objects inside of it afterwards; None where nothing is.
            required: the revision takes no object without the member, and nothing fills it.

        Returns:
            None where the value can be handed on as it is.
        """
        place = f"{owner}.{member}"
        plain = bool(self._matching(self.answers.plain_members, place))
        if plain:
            theirs = _either([self._outline(branch) for branch in alternatives(theirs, self.published)])
        self._complain_about_reading(place, ours, theirs)
        several = call is not None and call.many
        # Where an answer may give several values, the method of the member is asked for one of them afterwards.
        method, asked_for = ("", "value") if several else self._method(place, ours)
        if several and not self.takes_list(theirs):
            ours = _either(self._single(ours))
        wrapped = self._is_wrapped(ours, theirs)
        listed = (
            _either([*self._lists(ours), {"type": "array", "items": _either(self._single(ours))}]) if wrapped else ours
        )
        words = lacking(listed, theirs, self.canonical, self.published)
        if not required:
            # Null stands for a member that is absent.
            words = tuple(word for word in words if word != NULL)
        if not words and not method:
            return Fit(member, place, "", "value", True, None, "", required) if wrapped else None
        return Fit(
            member=member,
            place=place,
            method=method,
            asked_for=asked_for,
            wrapped=wrapped,
            check=check(theirs, self.published, members_apart=call is not None or plain),
            otherwise="refused" if method else self._otherwise(place, listed, theirs, words, required=required),
            required=required,
        )

    def takes_list(self, theirs: Node) -> bool:
        """Whether the revision takes a list at a place."""
        return any("array" in json_types(resolved(branch, self.published)) for branch in self._branches(theirs))

    def _branches(self, theirs: Node) -> list[Node]:
        return alternatives(theirs, self.published)

    def _outline(self, branch: Node) -> Node:
        """A shape without what it says about the inside of a list or an object."""
        inner = resolved(branch, self.published)
        return {
            key: value
            for key, value in inner.items()
            if key not in ("additionalProperties", "items", "properties", "required")
        }

    # One becomes a list.

    def _is_wrapped(self, ours: Node, theirs: Node) -> bool:
        single, lists = self._single(ours), self._lists(ours)
        branches = self._branches(theirs)
        only_lists = branches and all(json_types(resolved(branch, self.published)) == ["array"] for branch in branches)
        return bool(single and lists and only_lists)

    def _single(self, ours: Node) -> list[Node]:
        return [branch for branch in alternatives(ours, self.canonical) if not self._is_list(branch)]

    def _lists(self, ours: Node) -> list[Node]:
        return [branch for branch in alternatives(ours, self.canonical) if self._is_list(branch)]

    def _is_list(self, branch: Node) -> bool:
        return json_types(resolved(branch, self.canonical)) == ["array"]

    # What is answered.

    def _method(self, place: str, ours: Node) -> tuple[str, str]:
        """The method that is asked for what stands at a place, and what it is asked for."""
        answered = self.answers.replaced
        if place in answered:
            self.used.add(place)
            return answered[place], "value"
        names = {self._value_type(branch) for branch in self._single(ours)}
        items = {self._value_type(resolved(branch, self.canonical).get("items", {})) for branch in self._lists(ours)}
        (name, *others) = sorted(names | items) or [""]
        if others or name not in answered:
            return "", "value"
        self.used.add(name)
        return answered[name], "value" if not items else "either" if names else "items"

    def _value_type(self, branch: Node) -> str:
        """The name of a type that is no object and no union; empty where there is none."""
        name = referred(branch) or ""
        inner = resolved(branch, self.canonical)
        return "" if "properties" in inner or not inner.keys() & {"type", "enum", "const"} else name

    def _otherwise(self, place: str, ours: Node, theirs: Node, words: tuple[str, ...], *, required: bool) -> str:
        hints = self._matching(self.answers.hints, place)
        if hints and not required:
            self.used.update(hints)
            lists = [branch for branch in self._branches(theirs) if self.takes_list(branch)]
            only_items = not self._single(ours) and len(lists) == len(self._branches(theirs))
            return "items" if only_items else "left out"
        refused = self._matching(self.answers.refused_values, place)
        self.used.update(refused)
        if not refused:
            self._complain(place, ours, words, required=required)
        return "refused"

    def _matching(self, patterns: Iterable[str], place: str) -> list[str]:
        return [pattern for pattern in patterns if fnmatch.fnmatchcase(place, pattern)]

    # What is missing.

    def _complain(self, place: str, ours: Node, words: tuple[str, ...], *, required: bool) -> None:
        names = {self._value_type(branch) for branch in self._single(ours)}
        names |= {self._value_type(resolved(branch, self.canonical).get("items", {})) for branch in self._lists(ours)}
        replaced = [place, *sorted(names - {""})] if len(names) == 1 else [place]
        concern = " or ".join(f"'replaces: {name}'" for name in replaced)
        remedies = [f"say what is sent with a concern that has {concern}"]
        if not required:
            remedies.append(f"list it under 'hints: members' in {RULES} to leave such a value out")
        remedies.append(f"list it under 'refused: members' in {RULES} to make it an error")
        self.complaints.append(
            Complaint(
                f"'{place}' may be {_alternatives(words)}, which is not taken", "hints", ", or ".join(remedies), place
            )
        )

    def _complain_about_reading(self, place: str, ours: Node, theirs: Node) -> None:
        words = lacking(theirs, ours, self.published, self.canonical)
        if words and words != (NULL,):
            self.complaints.append(
                Complaint(
                    f"'{place}' may be {_alternatives(words)}, which the canonical vocabulary does not take,",
                    "plain",
                    f"list it under 'plain: members' in {RULES}",
                    place,
                    reading=True,
                )
            )


def _outside(name: str, published: Definitions, answers: Answers) -> Node:
    """A definition, and of one that passes as it is only whether it is an object."""
    if not any(fnmatch.fnmatchcase(answers.aliases.get(name, name), pattern) for pattern in answers.plain):
        return published[name]
    return {"type": "object"} if is_object(published[name], published) else {}


def _either(branches: list[Node]) -> Node:
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def _alternatives(words: tuple[str, ...]) -> str:
    shown = list(words[:4]) + ([f"{len(words) - 4} others"] if len(words) > 4 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"

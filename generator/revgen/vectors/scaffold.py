"""Everything that a revision needs under `tests/vectors/`, as texts by path.

Rule: a revision that has vectors keeps them. What other revisions need for its sake (that they lack a method, that they leave out a
member) is put behind what they have, with a mark of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ..canonical.merge import merge, published_aliases
from ..reading.located import Problems
from ..specification.loading import Specification
from . import encodings, messages
from .answers import Wording, answer_vectors, answered_otherwise
from .encodings import Encodings, NewMember, new_members
from .files import FOLDER, MARK, Vector, concern_text, list_text, read_file, vector_path, vector_text
from .messages import KINDS, Scaffold, Side, unknown

_CODES = "error_codes"


@dataclasses.dataclass(frozen=True)
class Scaffolded:
    """What is to be written.

    Attributes:
        texts: the text of each file, by its path relative to the root.
        vectors: how many vectors of the revision there are in it, by file.
        elsewhere: how many were added to files of other revisions, by file.
        to_write: the choices that are answered otherwise than before, whose outcomes nobody but a person knows.
        without_calls: the choices (`name of revision`) of which there are no calls to take over, so that a person writes them whole.
        unshown: types that came with the revision, are sent, and stand in no vector under `encoding/`.
    """

    texts: dict[str, str]
    vectors: dict[str, int]
    elsewhere: dict[str, int]
    to_write: tuple[str, ...]
    without_calls: tuple[str, ...]
    unshown: tuple[str, ...]


def scaffold(specification: Specification, version: str, like: str) -> Scaffolded:
    """Make the vectors of a revision; nothing is written.

    Args:
        specification: the inputs, checked.
        version: the revision; it has no vectors yet.
        like: one that has.

    Raises:
        SpecificationError: a file of vectors cannot be read.
    """
    return _Project(specification, version, like).scaffolded()


class _Project:
    """The vectors that there are, and those that a revision needs."""

    def __init__(self, specification: Specification, version: str, like: str) -> None:
        self.specification = specification
        self.version = version
        self.like = like
        self.sides = {one: self._side(one) for one in specification.versions}
        self.names = self._names()
        self.texts: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.elsewhere: dict[str, int] = {}
        self.without_calls: list[str] = []
        self.unshown: list[str] = []

    def scaffolded(self) -> Scaffolded:
        new, old = self.sides[self.version], self.sides[self.like]
        made = Scaffold(new, old, tuple(self.sides.values()), self.names)
        for kind in KINDS:
            head = f"{kind.says}, {self.version}."
            self._put(kind.name, head, {"direction": kind.direction}, made.vectors(kind))
        self._encodings(new, old)
        self._answers()
        self._methods_elsewhere(new)
        to_write = [
            name for area in self.specification.areas for name in answered_otherwise(area, self.version, self.like)
        ]
        return Scaffolded(
            self.texts, self.counts, self.elsewhere, tuple(to_write), tuple(self.without_calls), tuple(self.unshown)
        )

    # What there is.

    def _side(self, version: str) -> Side:
        # The revision itself has none yet; what is usual is learnt from the one that it is like.
        source = version if self._vectors(version, "client_requests") else self.like
        listed = {kind.name: self._vectors(source, kind.name) for kind in KINDS}
        if source != version:
            listed = messages.renamed(listed, source, version)
        codes = next(
            (concern.answers[version].rows for concern in self._concerns() if concern.name == _CODES),
            dict[str, Any](),
        )
        return Side(version, self.specification.schemas[version], listed, codes)

    def _concerns(self) -> Sequence[Any]:
        return [concern for area in self.specification.areas for concern in area.concerns]

    def _vectors(self, version: str, kind: str) -> list[Vector]:
        found: list[Vector] = self._file(version, kind).get("vectors", [])
        return [{key: value for key, value in vector.items() if key != MARK} for vector in found]

    def _file(self, version: str, kind: str) -> dict[str, Any]:
        return read_file(self.specification.root, vector_path(version, kind))

    def _names(self) -> dict[str, str]:
        """Definitions of the old revision that the new one has under another name."""
        schemas, rules = self.specification.schemas, self.specification.rules
        before = published_aliases(schemas[self.like], rules)
        now = {canonical: published for published, canonical in published_aliases(schemas[self.version], rules).items()}
        found = {}
        for name in schemas[self.like]["$defs"]:
            canonical = before.get(name, name)
            other = now.get(canonical, canonical)
            if other != name and other in schemas[self.version]["$defs"]:
                found[name] = other
        return found

    # What is made.

    def _put(self, kind: str, head: str, top: Mapping[str, Any], vectors: Sequence[Vector]) -> None:
        path = vector_path(self.version, kind)
        if vectors:
            marked = {MARK: f"like {self.like} and by the published schema", **top}
            self.texts[path] = list_text([head], marked, vectors)
            self.counts[path] = len(vectors)

    def _encodings(self, new: Side, old: Side) -> None:
        specification = self.specification
        filled = {
            concern.fills: concern.answers[self.version].value
            for concern in self._concerns()
            if concern.fills and concern.answers[self.version].value is not None
        }
        made = Encodings(
            new, old, specification.schemas, specification.canonical, filled, specification.rules, self.names
        )
        without = self._without()
        members = self._new_members(new, without)
        shown: set[str] = set()
        for kind in encodings.KINDS:
            top = {
                key: value
                for key, value in messages.renamed(
                    self._file(self.like, f"encoding/{kind}"), self.like, self.version
                ).items()
                if key not in ("vectors", MARK)
            }
            vectors = made.vectors(kind, self._vectors(self.like, f"encoding/{kind}"), members)
            self._put(f"encoding/{kind}", f"Canonical values, and exactly what {self.version} sends.", top, vectors)
            shown |= made.types_in(kind, vectors)
        sent = {function.type_name for function in specification.projections[self.version].objects}
        self.unshown = sorted(sent - without["$defs"].keys() - shown)
        for other in specification.versions:
            if other != self.version:
                self._members_elsewhere(made, other, members)

    def _without(self) -> dict[str, Any]:
        """The vocabulary of all other revisions."""
        others = {one: schema for one, schema in self.specification.schemas.items() if one != self.version}
        return merge(others, self.specification.rules, Problems())

    def _new_members(self, new: Side, without: Mapping[str, Any]) -> list[NewMember]:
        specification = self.specification
        aliases = published_aliases(specification.schemas[self.version], specification.rules)
        names = {canonical: published for published, canonical in aliases.items()}
        return new_members(self.version, specification.canonical, without, new, names)

    def _members_elsewhere(self, made: Encodings, other: str, members: Sequence[NewMember]) -> None:
        """That a revision leaves out what only the new one has; one vector a member is enough."""
        waiting = list(members)
        for kind in encodings.KINDS:
            vectors = list(
                made.with_members(other, kind, self._vectors(other, f"encoding/{kind}"), waiting, carries=False)
            )
            self._add(other, f"encoding/{kind}", vectors)

    def _methods_elsewhere(self, new: Side) -> None:
        """That other revisions do not have a method that the new one brings."""
        for kind in (kind for kind in KINDS if kind.of):
            for other, side in self.sides.items():
                if other == self.version or kind.name == "answers":
                    continue
                shown = {messages.method_of(kind, vector) for vector in self._vectors(other, kind.name)}
                lacking = [name for name in new.of(kind) if name not in side.of(kind) and name not in shown]
                self._add(other, kind.name, [unknown(kind, name, side, new) for name in lacking])

    def _add(self, other: str, kind: str, vectors: Sequence[Vector]) -> None:
        path = vector_path(other, kind)
        file = self.specification.root / path
        if not vectors or not file.is_file():
            return
        text = self.texts.get(path) or file.read_text("utf-8")
        for vector in vectors:
            name, *rest = vector.items()
            text += "\n" + vector_text(dict([name, (MARK, f"for the sake of {self.version}"), *rest]))
        self.texts[path] = text
        self.elsewhere[path] = self.elsewhere.get(path, 0) + len(vectors)

    def _answers(self) -> None:
        schemas, wording = self.specification.schemas, Wording(self._concerns())
        for area in self.specification.areas:
            kind = f"concerns/{area.name}"
            known = {one: self._file(one, kind) for one in reversed(self.specification.versions)}
            for one in self.specification.versions:
                # A concern that came with the revision asks all others as well.
                entries = answer_vectors(area, one, self.like, known, schemas[one], wording)
                file = self.specification.root / vector_path(one, kind)
                if not entries or (one != self.version and not file.is_file()):
                    continue
                path, texts = vector_path(one, kind), [concern_text(name, entry) for name, entry in entries.items()]
                if one == self.version:
                    self.texts[path] = f"# {area.title}: what {one} answers.\n" + "\n".join(texts)
                    self.counts[path] = len(entries)
                else:
                    self.texts[path] = "\n".join([file.read_text("utf-8"), *texts])
                    self.elsewhere[path] = len(entries)
                self.without_calls += [
                    f"{name} of {one}" for name, entry in entries.items() if entry.get("calls") == []
                ]


def has_vectors(specification: Specification, version: str) -> bool:
    """Whether a revision has any vectors."""
    return any((specification.root / FOLDER / version).rglob("*.yaml"))

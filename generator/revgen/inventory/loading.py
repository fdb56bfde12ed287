"""Reads every area, and holds each concern and its answers against the revisions, their schemas, and each other.

Rule: a missing answer is a fault, a choice that no revision gives a remark, an answer that nobody has looked at a mark. What cannot be read
by itself has been said, and is left out, so that all else can be compared.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import pathlib
import types

from ..reading.literals import Type, Value, read_value
from ..reading.located import Node, Place, Problems, Scalar, load, shown
from ..reading.models import FILE_NAME_RULE, is_file_name, read, without_meant
from ..schemas.pages import Pages
from .area_file import AreaFile, ChoiceAnswer, ChoiceConcern, Row, TableAnswer, TableConcern, ValueAnswer, ValueConcern
from .citations import follow_citations
from .concerns import FOLDER, Answer, Area, Concern

AnyAnswer = ValueAnswer | TableAnswer | ChoiceAnswer


@dataclasses.dataclass(frozen=True)
class Inventory:
    """What could be read: areas with their concerns, and these with their answers. `whole` where no concern is missing; answers may be."""

    areas: tuple[Area, ...]
    whole: bool


def load_inventory(
    root: pathlib.Path,
    versions: collections.abc.Sequence[str],
    schemas: collections.abc.Mapping[str, object],
    problems: Problems,
    pages: collections.abc.Mapping[str, Pages] = types.MappingProxyType({}),
) -> Inventory:
    """Read every area, in the order of the file names.

    Args:
        root: the folder that holds `specs/`.
        versions: the revisions that must answer, oldest first.
        schemas: the loaded schema of each revision; pointers into one that is missing here are not followed.
        problems: receives everything that is wrong.
        pages: the pages of each revision whose pages are known, which citations are held against.
    """
    paths = [f"{FOLDER}/{path.name}" for path in sorted((root / FOLDER).glob("*.yaml"), key=lambda path: path.name)]
    read_ = {path: read(AreaFile, load(root, path, problems), problems) for path in paths}
    files = {path: file for path, file in read_.items() if file is not None}
    # What has a wrong name has no templates that could be held against it.
    names = [pathlib.PurePosixPath(path).stem for path in paths]
    names += [name for file in read_.values() if file is not None for name in file.concerns]
    named = all(map(is_file_name, names))
    whole = named and all(file is not None and None not in file.concerns.values() for file in read_.values())
    joiner = _Joiner(versions, schemas, dict(_declared_rows(files.values())), whole, problems, pages)
    areas = tuple(joiner.area(path, file) for path, file in files.items())
    _check_unique_names(areas, problems)
    _check_unique_parts(areas, problems)
    return Inventory(areas, whole)


def _declared_rows(
    files: collections.abc.Iterable[AreaFile],
) -> collections.abc.Iterator[tuple[str, dict[Scalar, Row] | None]]:
    """The rows that tables declare, by concern, since another table may have the same; None where they could not be read."""
    for file in files:
        for name, concern in file.concerns.items():
            if concern is None:
                yield name, None
            elif isinstance(concern, TableConcern) and not isinstance(concern.rows, str):
                yield name, concern.rows


def taken_twice(areas: collections.abc.Iterable[Area]) -> dict[str, str]:
    """What several concerns fill or replace, with that part."""
    return {target: part for _, part, target, _ in _twice(areas)}


def _check_unique_parts(areas: collections.abc.Iterable[Area], problems: Problems) -> None:
    """One member has one stand-in; a type may be adjusted by several concerns, in their order."""
    for concern, part, target, other in _twice(areas):
        message = f"'{concern.name}' {part} '{target}', and so does '{other}'; allowed: one concern for each"
        problems.add(concern.place_of(part), message)


def _twice(areas: collections.abc.Iterable[Area]) -> collections.abc.Iterator[tuple[Concern, str, str, str]]:
    """Concerns that fill or replace what another one before them does, with the part, the target and that one."""
    first: dict[tuple[str, str], str] = {}
    for concern in (concern for area in areas for concern in area.concerns):
        for part, target in (("fills", concern.fills), ("replaces", concern.replaces)):
            if target and first.setdefault((part, target), concern.name) != concern.name:
                yield concern, part, target, first[part, target]


def _check_unique_names(areas: collections.abc.Iterable[Area], problems: Problems) -> None:
    first: dict[str, Place] = {}
    for concern in (concern for area in areas for concern in area.concerns):
        if concern.name in first:
            problems.add(concern.place, f"'{concern.name}' is already a concern at {first[concern.name]}")
        else:
            first[concern.name] = concern.place


@dataclasses.dataclass(frozen=True)
class _Joiner:
    """Makes areas of files. What contradicts the revisions or the schemas is a complaint, and left out."""

    versions: collections.abc.Sequence[str]
    schemas: collections.abc.Mapping[str, object]
    declared_rows: collections.abc.Mapping[str, dict[Scalar, Row] | None]
    whole: bool
    problems: Problems
    pages: collections.abc.Mapping[str, Pages]

    def area(self, path: str, file: AreaFile) -> Area:
        name = pathlib.PurePosixPath(path).stem
        if not is_file_name(name):
            self.problems.add(file.place, f"'{name}' is not a name for an area; allowed: {FILE_NAME_RULE}")
        concerns = tuple(self._concern(name, concern) for concern in file.concerns.values() if concern is not None)
        return Area(name, file.title, file.transport, concerns, path)

    def _concern(self, area: str, asked: ValueConcern | TableConcern | ChoiceConcern) -> Concern:
        bare = Concern(
            name=asked.key,
            area=area,
            question=asked.question,
            kind="choice",
            answers={},
            place=asked.place,
            key_places=asked.places,
            read_by=asked.read_by or "",
        )
        if isinstance(asked, ValueConcern):
            concern = dataclasses.replace(
                bare,
                kind="value",
                type=asked.value,
                flag=asked.flag,
                names=asked.names or "",
                needs=asked.needs,
                orders=asked.orders,
                among=asked.among,
                excludes=asked.excludes,
                fills=asked.fills,
            )
        elif isinstance(asked, TableConcern):
            concern = dataclasses.replace(
                bare, kind="table", type=asked.table, names=asked.names or "", rows=self._rows(asked)
            )
        else:
            concern = dataclasses.replace(
                bare,
                adjusts=asked.adjusts,
                replaces=asked.replaces,
                signature=asked.signature,
                parameters={str(name): type_ for name, type_ in asked.parameters.items()},
                choices={str(name): choice.says for name, choice in asked.choices.items()},
                choice_places={str(name): name.place for name in asked.choices},
                reads={str(name): choice.reads for name, choice in asked.choices.items() if choice.reads},
            )
        answers = self._answers(concern, asked.answers)
        if None not in asked.answers.values():
            self._remark_on_unused_choices(concern, answers)
        return dataclasses.replace(concern, answers=answers)

    def _rows(self, asked: TableConcern) -> dict[str, Row]:
        """The rows of a table: its own, or those of another one."""
        rows = asked.rows
        if isinstance(rows, Scalar):
            if rows not in self.declared_rows and self.whole:
                known = ", ".join(self.declared_rows) or "none"
                self.problems.add(rows.place, f"'{shown(rows)}' is not a table that has rows; tables: {known}")
                return {}
            rows = self.declared_rows.get(rows) or {}
        return {str(name): row for name, row in rows.items()}

    def _answers(
        self, concern: Concern, written: collections.abc.Mapping[Scalar, AnyAnswer | None]
    ) -> dict[str, Answer]:
        for version in written:
            if version not in self.versions:
                known = ", ".join(self.versions)
                self.problems.add(version.place, f"'{shown(version)}' is not a revision; revisions: {known}")
        missing = without_meant(
            [version for version in self.versions if version not in written], written, self.versions
        )
        if missing:
            wanted = ", ".join(f'"{version}"' for version in missing)
            message = f"no answer of '{concern.name}' for {', '.join(missing)}; add {wanted} to its 'answers'"
            self.problems.add(concern.place, message)
        given = {str(version): answer for version, answer in written.items() if answer is not None}
        answers = {
            version: self._answer(concern, version, given[version]) for version in self.versions if version in given
        }
        return {version: answer for version, answer in answers.items() if answer is not None}

    def _answer(self, concern: Concern, version: str, given: AnyAnswer) -> Answer | None:
        """One answer; None after complaints about what it says. Where it is from may be wrong still."""
        what = f"the answer of '{concern.name}' for {version}"
        if given.review is not None:
            self.problems.mark(given.key_place("review"), f"{what} is to be reviewed: {given.review}")
        # What waits for a review may point to nothing: the pointers were another schema's.
        complain = self.problems.add if given.review is None else self.problems.mark
        follow_citations(given.citations, self.schemas.get(version), version, complain, self.pages.get(version))
        answer = Answer(given.citations, given.place, review=given.review or "")
        before = len(self.problems.found)
        answer = self._said(concern, answer, given, what)
        return answer if len(self.problems.found) == before else None

    def _said(self, concern: Concern, answer: Answer, given: AnyAnswer, what: str) -> Answer:
        """An answer with what it says."""
        if isinstance(given, ChoiceAnswer):
            return dataclasses.replace(
                answer,
                choice=self._choice(concern, given.choice),
                arguments=self._arguments(concern, given, what),
                places={"choice": given.choice.place},
            )
        assert concern.type is not None
        if isinstance(given, TableAnswer):
            places = {str(row): row.place for row in given.rows}
            return dataclasses.replace(answer, rows=self._row_values(concern, concern.type, given, what), places=places)
        value = read_value(given.is_, concern.type, what, self.problems)
        return dataclasses.replace(answer, value=value, places={"is": given.is_.place})

    def _row_values(self, concern: Concern, type_: Type, given: TableAnswer, what: str) -> dict[str, Value]:
        """The rows that the revision has. Every row must be answered, with none where the revision has no such thing."""
        if not concern.rows:
            return {}
        self._complain_about_unknown(given.rows, concern.rows, "row", concern)
        missing = without_meant([row for row in concern.rows if row not in given.rows], given.rows, concern.rows)
        if missing:
            rows = ", ".join(f"'{row}'" for row in missing)
            message = f"{what} has no row {rows}; allowed in each: {type_.allowed}"
            self.problems.add(given.key_place("rows"), message)
        values = self._values(given.rows, dict.fromkeys(concern.rows, type_), "row")
        return {row: values[row] for row in concern.rows if values.get(row) is not None}

    def _choice(self, concern: Concern, choice: Scalar) -> str:
        if choice in concern.choices:
            return str(choice)
        known = ", ".join(concern.choices)
        self.problems.add(choice.place, f"'{shown(choice)}' is not a choice of '{concern.name}'; choices: {known}")
        return ""

    def _arguments(self, concern: Concern, given: ChoiceAnswer, what: str) -> dict[str, Value]:
        self._complain_about_unknown(given.arguments, concern.parameters, "parameter", concern)
        for name in concern.parameters:
            if name not in given.arguments:
                known = ", ".join(concern.parameters)
                message = f"{what} does not give parameter '{name}'; parameters: {known}"
                self.problems.add(given.key_place("with"), message)
        values = self._values(given.arguments, concern.parameters, "parameter")
        return {name: values[name] for name in concern.parameters if name in values}

    def _complain_about_unknown(
        self,
        given: collections.abc.Iterable[Scalar],
        known: collections.abc.Collection[str],
        what: str,
        concern: Concern,
    ) -> None:
        for name in given:
            if name not in known:
                message = f"'{shown(name)}' is not a {what} of '{concern.name}'; {what}s: {', '.join(known) or 'none'}"
                self.problems.add(name.place, message)

    def _values(
        self,
        nodes: collections.abc.Mapping[Scalar, Node],
        types: collections.abc.Mapping[str, Type],
        what: str,
    ) -> dict[str, Value]:
        return {
            str(name): read_value(node, types[name], f"{what} '{name}'", self.problems)
            for name, node in nodes.items()
            if name in types
        }

    def _remark_on_unused_choices(self, concern: Concern, answers: collections.abc.Mapping[str, Answer]) -> None:
        used = {answer.choice for answer in answers.values()}
        for choice, place in concern.choice_places.items():
            if choice not in used:
                self.problems.remark(place, f"choice '{choice}' of '{concern.name}' is answered by no revision")

"""The inventory: what varies between revisions and no schema says, as `specs/variance/<area>.yaml` holds it.

Rule: a concern is one question, and every revision answers it itself. There is no default, no inheritance and no "since", so a
missing answer is a fault. A choice that no revision gives is a remark, an answer that nobody has looked at a mark.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import keyword
import pathlib
import types
from typing import Literal

from ..reading import located
from ..reading.literals import TYPES, Type, Value, found, read_boolean, read_text, read_type, read_value
from ..reading.located import Mapping, Node, Place, Problems, Scalar, kind
from ..schemas.pages import Pages
from .citations import Citation, read_citations

FOLDER = "specs/variance"
TRANSPORTS = ("streamable_http", "http_sse", "stdio")

Kind = Literal["value", "table", "choice"]

_AREA_KEYS = ("title", "transport", "concerns")
_CONCERN_KEYS: dict[Kind, tuple[str, ...]] = {
    "value": ("question", "value", "flag", "names", "needs", "fills", "answers"),
    "table": ("question", "table", "names", "rows", "answers"),
    "choice": ("question", "signature", "parameters", "choices", "adjusts", "replaces", "answers"),
}
_OPTIONAL_KEYS = ("flag", "names", "needs", "fills", "parameters", "adjusts", "replaces")
_ANSWER_KEYS: dict[Kind, tuple[str, ...]] = {
    "value": ("is", "cite", "review"),
    "table": ("rows", "cite", "review"),
    "choice": ("choice", "with", "cite", "review"),
}
# `with` is needed exactly where the concern has parameters, which the arguments are compared with.
_OPTIONAL_ANSWER_KEYS = ("with", "review")
_ROW_KEYS = ("says", "defined", "stated")
_CHOICE_KEYS = ("says", "reads")

NAMES: dict[str, tuple[Kind, str]] = {
    "request": ("value", "a request of a client"),
    "notification": ("value", "a notification of a client"),
    "header": ("value", "a header, or the start of its name"),
    "checks": ("value", "methods of the adapter that check a message"),
    "requests": ("table", "a request of a client a row"),
    "request members": ("table", "a request of a client a row, and a member of its params"),
    "meta keys": ("table", "a key of `_meta` a row"),
    "error codes": ("table", "a kind of error a row, and its code"),
    "error kinds": ("table", "a code a row, and a kind of error"),
    "concerns": ("table", "a concern a row, which the revision answers with something"),
}
"""What the answers of a concern may name that stands elsewhere: in the schema of the revision, or in other answers. By the kind of concern
that may say so, with words."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table, which every revision answers.

    Attributes:
        says: what it is, in words.
        defined: the type in the schema that has the row's value, where it has that type; empty where none has.
        stated: whether schemas state the row; if not, pages alone do.
        place: where the row is declared.
    """

    says: str
    defined: str
    stated: bool
    place: Place


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one revision answers. Of `value`, `rows` and `choice` with `arguments`, those of the concern's kind are set.

    `rows` are those that the revision has, in the order of the concern; what it answers with none is left out. `review` is not empty where a
    person has yet to look at the answer: it says why. `places` says where `is`, `choice` or each row stands.
    """

    citations: tuple[Citation, ...]
    place: Place
    value: Value = None
    rows: dict[str, Value] = dataclasses.field(default_factory=dict)
    choice: str = ""
    arguments: dict[str, Value] = dataclasses.field(default_factory=dict)
    review: str = ""
    places: dict[str, Place] = dataclasses.field(default_factory=dict, compare=False)


@dataclasses.dataclass(frozen=True)
class Concern:
    """One question, which becomes one attribute or method of every adapter.

    `type` is that of a value or of every entry of a table; a value may be a `flag`; a table has `rows`. `names` says what the answers name (of
    `NAMES`; empty for nothing), `needs` which other concern a revision must answer with something where it does so here. `signature`, `parameters` (name to type) and `choices` (name to meaning) belong to a choice; `choice_places`
    says where each choice stands, and `reads` which members (`Type.member`) the code of a choice relies on. `answers` has one entry
    a revision, oldest first.

    At most one of three says how it takes part in leaving out what a revision lacks: a choice `adjusts` objects of a type, or
    `replaces` one member of unions; a value `fills` a member that a revision requires and a sender may leave out.
    """

    name: str
    area: str
    question: str
    kind: Kind
    answers: dict[str, Answer]
    place: Place
    type: Type | None = None
    flag: bool = False
    names: str = ""
    needs: str = ""
    rows: dict[str, Row] = dataclasses.field(default_factory=dict)
    fills: str = ""
    adjusts: str = ""
    replaces: str = ""
    signature: str = ""
    parameters: dict[str, Type] = dataclasses.field(default_factory=dict)
    choices: dict[str, str] = dataclasses.field(default_factory=dict)
    choice_places: dict[str, Place] = dataclasses.field(default_factory=dict)
    reads: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    key_places: dict[str, Place] = dataclasses.field(default_factory=dict, compare=False)

    def place_of(self, key: str) -> Place:
        """Where the value of one of its keys stands; the concern itself where it has no such key."""
        return self.key_places.get(key, self.place)

    @property
    def annotation(self) -> str:
        """The Python type of the attribute; empty for a choice, whose signature says it."""
        if self.type is None:
            return ""
        # A row that a revision answers with none is not in the table.
        return f"Mapping[str, {self.type.given}]" if self.kind == "table" else self.type.annotation


@dataclasses.dataclass(frozen=True)
class Area:
    """Concerns that belong together, in the order of the file. `transport` is set where they are answered for one transport."""

    name: str
    title: str
    transport: str | None
    concerns: tuple[Concern, ...]
    path: str


def load_inventory(
    root: pathlib.Path,
    versions: collections.abc.Sequence[str],
    schemas: collections.abc.Mapping[str, object],
    problems: Problems,
    pages: collections.abc.Mapping[str, Pages] = types.MappingProxyType({}),
) -> tuple[Area, ...]:
    """Read every area, in the order of the file names.

    Args:
        root: the folder that holds `specs/`.
        versions: the revisions that must answer, oldest first.
        schemas: the loaded schema of each revision; pointers into one that is missing here are not followed.
        problems: receives everything that is wrong; what is returned is of use only when nothing was added.
        pages: the pages of each revision whose pages are known, which citations are held against.
    """
    paths = sorted((root / FOLDER).glob("*.yaml"), key=lambda path: path.name)
    tops = {f"{FOLDER}/{path.name}": located.load(root, f"{FOLDER}/{path.name}", problems) for path in paths}
    declared = dict(_declared_rows(top for top in tops.values() if top is not None))
    areas = tuple(
        _AreaReader(path, versions, schemas, declared, problems, pages).read(top)
        for path, top in tops.items()
        if top is not None
    )
    _check_unique_names(areas, problems)
    _check_unique_parts(areas, problems)
    return areas


def _declared_rows(tops: collections.abc.Iterable[Mapping]) -> collections.abc.Iterator[tuple[str, Mapping]]:
    """The rows that tables declare, by concern: another table may have the same."""
    for top in tops:
        concerns = top.get("concerns")
        for name, concern in concerns.entries.items() if isinstance(concerns, Mapping) else ():
            rows = concern.get("rows") if isinstance(concern, Mapping) else None
            if isinstance(rows, Mapping):
                yield name, rows


def _check_unique_parts(areas: collections.abc.Iterable[Area], problems: Problems) -> None:
    """One member has one stand-in; a type may be adjusted by several concerns, in their order."""
    first: dict[tuple[str, str], str] = {}
    for concern in (concern for area in areas for concern in area.concerns):
        for part, target in (("fills", concern.fills), ("replaces", concern.replaces)):
            if target and first.setdefault((part, target), concern.name) != concern.name:
                other = first[part, target]
                problems.add(concern.place, f"'{concern.name}' {part} '{target}', and so does '{other}'")


def _check_unique_names(areas: collections.abc.Iterable[Area], problems: Problems) -> None:
    first: dict[str, Place] = {}
    for concern in (concern for area in areas for concern in area.concerns):
        if concern.name in first:
            problems.add(concern.place, f"'{concern.name}' is already a concern at {first[concern.name]}")
        else:
            first[concern.name] = concern.place


@dataclasses.dataclass(frozen=True)
class _AreaReader:
    """Reads one file. Every method takes a node and gives what it means, or complains and gives the closest empty thing."""

    path: str
    versions: collections.abc.Sequence[str]
    schemas: collections.abc.Mapping[str, object]
    declared_rows: collections.abc.Mapping[str, Mapping]
    problems: Problems
    pages: collections.abc.Mapping[str, Pages]

    @property
    def name(self) -> str:
        return pathlib.PurePosixPath(self.path).stem

    def read(self, top: Mapping) -> Area:
        if not _is_public_name(self.name):
            self.problems.add(top.place, f"'{self.name}' is not a name for an area; {_NAME_RULE}")
        self._check_keys(top, _AREA_KEYS, ("title", "concerns"), "an area")
        title = self._text(top, "title", f"the title of '{self.name}'")
        concerns = self._mapping(top, "concerns", f"'concerns' of '{self.name}'")
        read = (self._concern(name, concerns) for name in concerns)
        kept = tuple(concern for concern in read if concern is not None)
        return Area(self.name, title, self._transport(top), kept, self.path)

    def _transport(self, top: Mapping) -> str | None:
        node = top.get("transport")
        if node is None or (isinstance(node, Scalar) and node.text in TRANSPORTS):
            return node.text if isinstance(node, Scalar) else None
        self.problems.add(node.place, f"{found(node)} is not a transport; transports: {', '.join(TRANSPORTS)}")
        return None

    def _concern(self, name: str, concerns: Mapping) -> Concern | None:
        place, node = concerns.place_of(name), concerns[name]
        if not _is_public_name(name):
            self.problems.add(place, f"'{name}' is not a name for a concern; {_NAME_RULE}")
        if not isinstance(node, Mapping):
            self.problems.add(node.place, f"concern '{name}' is {found(node)}; allowed: a mapping")
            return None
        concern_kind = self._kind(name, node, place)
        if concern_kind is None:
            return None
        allowed = _CONCERN_KEYS[concern_kind]
        required = tuple(key for key in allowed if key not in _OPTIONAL_KEYS)
        self._check_keys(node, allowed, required, f"concern '{name}' ({concern_kind})", place)
        asked = Concern(
            name=name,
            area=self.name,
            question=self._text(node, "question", f"the question of '{name}'"),
            kind=concern_kind,
            answers={},
            place=place,
            type=read_type(node[concern_kind], f"'{name}'", self.problems) if concern_kind != "choice" else None,
            flag=self._flag(name, node),
            names=self._names(name, node, concern_kind),
            needs=self._text(node, "needs", f"'needs' of '{name}'") if concern_kind == "value" else "",
            rows=self._rows(name, node) if concern_kind == "table" else {},
            **self._part(name, node, concern_kind),
            signature=self._signature(name, node),
            parameters=self._parameters(name, node),
            choices=self._choices(name, node),
            choice_places=self._places(node.get("choices")),
            reads=self._reads(node),
            key_places={key: value.place for key, value in node.entries.items()},
        )
        answers = self._answers(asked, node)
        self._check_every_choice_is_answered(asked, answers)
        return dataclasses.replace(asked, answers=answers)

    def _kind(self, name: str, node: Mapping, place: Place) -> Kind | None:
        marks: dict[str, Kind] = {"value": "value", "table": "table", "choices": "choice"}
        given = [key for key in marks if key in node]
        if len(given) == 1:
            return marks[given[0]]
        what = " and ".join(f"'{key}'" for key in given) or "none of three"
        self.problems.add(place, f"concern '{name}' has {what}; allowed: one of 'value', 'table', 'choices'")
        return None

    def _flag(self, name: str, node: Mapping) -> bool:
        written = node.get("flag")
        if written is None or "value" not in node:
            return False
        declared = node["value"]
        flag = read_boolean(written, f"'flag' of '{name}'", self.problems)
        if flag and isinstance(declared, Scalar) and declared.text != "boolean":
            self.problems.add(written.place, f"'{name}' is a flag of type {found(declared)}; a flag is a boolean")
        return flag

    def _part(self, name: str, node: Mapping, concern_kind: Kind) -> dict[str, str]:
        """Which part the concern has in leaving out, if any: the key, and what it names."""
        keys = {"value": ("fills",), "choice": ("adjusts", "replaces")}.get(concern_kind, ())
        given = [key for key in keys if key in node]
        if len(given) > 1:
            self.problems.add(node.place_of(given[1]), f"concern '{name}' {' and '.join(given)}; allowed: one of them")
        return {key: self._text(node, key, f"'{key}' of '{name}'") for key in given[:1]}

    def _signature(self, name: str, node: Mapping) -> str:
        written = node.get("signature")
        if written is None or "choices" not in node:
            return ""
        signature = read_text(written, f"the signature of '{name}'", self.problems)
        if signature and not _is_method_signature(signature):
            self.problems.add(
                written.place,
                f"'{signature}' is not the signature of a method; "
                "allowed: '(self, <name>: <type>, ...) -> <type>', every parameter annotated",
            )
        return signature

    def _parameters(self, name: str, node: Mapping) -> dict[str, Type]:
        written = self._mapping(node, "parameters", f"'parameters' of '{name}'")
        self._check_names(written, f"a parameter of '{name}'")
        types = {
            parameter: read_type(type_, f"parameter '{parameter}'", self.problems)
            for parameter, type_ in written.entries.items()
        }
        return {parameter: type_ for parameter, type_ in types.items() if type_ is not None}

    def _names(self, name: str, node: Mapping, concern_kind: Kind) -> str:
        written = node.get("names")
        if written is None or concern_kind == "choice":
            return ""
        allowed = [names for names, (kind_, _) in NAMES.items() if kind_ == concern_kind]
        if isinstance(written, Scalar) and written.text in allowed:
            return written.text
        self.problems.add(
            written.place, f"{found(written)} is nothing that '{name}' may name; allowed: {', '.join(allowed)}"
        )
        return ""

    def _rows(self, name: str, node: Mapping) -> dict[str, Row]:
        written = node.get("rows")
        if isinstance(written, Scalar) and written.text in self.declared_rows:
            written = self.declared_rows[written.text]
        if isinstance(written, Mapping):
            return {row: self._row(row, written) for row in written}
        if written is not None:
            known = ", ".join(self.declared_rows) or "none"
            what = (
                f"{found(written)}; allowed: a mapping from row to words, or a table that has the same rows ({known})"
            )
            self.problems.add(written.place, f"'rows' of '{name}' is {what}")
        return {}

    def _row(self, row: str, rows: Mapping) -> Row:
        node, place = rows[row], rows.place_of(row)
        if not isinstance(node, Mapping):
            return Row(read_text(node, f"the meaning of row '{row}'", self.problems), "", True, place)
        self._check_keys(node, _ROW_KEYS, ("says",), f"row '{row}'", place)
        stated = node.get("stated")
        return Row(
            says=self._text(node, "says", f"the meaning of row '{row}'"),
            defined=self._text(node, "defined", f"'defined' of row '{row}'"),
            stated=stated is None or read_boolean(stated, f"'stated' of row '{row}'", self.problems),
            place=place,
        )

    def _choices(self, name: str, node: Mapping) -> dict[str, str]:
        written = self._mapping(node, "choices", f"'choices' of '{name}'")
        self._check_names(written, f"a choice of '{name}'")
        choices = {}
        for choice, meaning in written.entries.items():
            if isinstance(meaning, Mapping):
                self._check_keys(meaning, _CHOICE_KEYS, ("says",), f"choice '{choice}'", written.place_of(choice))
                choices[choice] = self._text(meaning, "says", f"the meaning of choice '{choice}'")
            else:
                choices[choice] = read_text(meaning, f"the meaning of choice '{choice}'", self.problems)
        return choices

    def _reads(self, node: Mapping) -> dict[str, tuple[str, ...]]:
        written = node.get("choices")
        reads: dict[str, tuple[str, ...]] = {}
        for choice, meaning in written.entries.items() if isinstance(written, Mapping) else ():
            if isinstance(meaning, Mapping) and (members := meaning.get("reads")) is not None:
                read = read_value(members, TYPES["list of text"], f"'reads' of choice '{choice}'", self.problems)
                reads[choice] = read if isinstance(read, tuple) else ()
        return reads

    def _places(self, node: Node | None) -> dict[str, Place]:
        """Where each key of a mapping stands."""
        return {name: node.place_of(name) for name in node} if isinstance(node, Mapping) else {}

    def _answers(self, concern: Concern, node: Mapping) -> dict[str, Answer]:
        written = self._mapping(node, "answers", f"'answers' of '{concern.name}'")
        for version, key in written.keys.items():
            if version not in self.versions:
                known = ", ".join(self.versions)
                self.problems.add(key.place, f"'{version}' is not a revision; revisions: {known}")
            elif not key.quoted:
                self.problems.add(key.place, f"revision '{version}' is not quoted; allowed: \"{version}\"")
        missing = [version for version in self.versions if version not in written]
        if missing and "answers" in node:
            how = f"add {', '.join(map(_quoted, missing))} to its 'answers'"
            self.problems.add(concern.place, f"no answer of '{concern.name}' for {', '.join(missing)}; {how}")
        return {
            version: self._answer(concern, version, written[version], written.place_of(version))
            for version in self.versions
            if version in written
        }

    def _answer(self, concern: Concern, version: str, node: Node, place: Place) -> Answer:
        what = f"the answer of '{concern.name}' for {version}"
        if not isinstance(node, Mapping):
            self.problems.add(node.place, f"{what} is {found(node)}; allowed: a mapping")
            return Answer((), place)
        allowed = _ANSWER_KEYS[concern.kind]
        required = tuple(key for key in allowed if key not in _OPTIONAL_ANSWER_KEYS)
        self._check_keys(node, allowed, required, what, place)
        review = self._review(node, what)
        answer = Answer(self._citations(node, version, is_reviewed=not review), place, review=review)
        if concern.kind == "choice":
            choice = self._choice(concern, node)
            arguments = self._arguments(concern, node, what, place)
            return dataclasses.replace(
                answer, choice=choice, arguments=arguments, places=self._value_place(node, "choice")
            )
        if concern.type is None:
            return answer
        if concern.kind == "table":
            written = self._mapping(node, "rows", f"'rows' of {what}")
            return dataclasses.replace(
                answer, rows=self._row_values(concern, node, written, what), places=self._places(node.get("rows"))
            )
        is_ = node.get("is")
        value = read_value(is_, concern.type, what, self.problems) if is_ is not None else None
        return dataclasses.replace(answer, value=value, places=self._value_place(node, "is"))

    def _value_place(self, node: Mapping, key: str) -> dict[str, Place]:
        return {key: node[key].place} if key in node else {}

    def _row_values(self, concern: Concern, node: Mapping, written: Mapping, what: str) -> dict[str, Value]:
        """The rows that the revision has. Every row must be answered, with none where the revision has no such thing."""
        assert concern.type is not None
        allowed = ", ".join(concern.rows) or "none"
        for row in written:
            if row not in concern.rows:
                self.problems.add(written.place_of(row), f"'{row}' is not a row of '{concern.name}'; rows: {allowed}")
        missing = [row for row in concern.rows if row not in written]
        if missing and isinstance(node.get("rows"), Mapping):
            rows = ", ".join(f"'{row}'" for row in missing)
            self.problems.add(
                node.place_of("rows"), f"{what} has no row {rows}; allowed in each: {concern.type.allowed}"
            )
        values = self._values(written, dict.fromkeys(concern.rows, concern.type), "row")
        return {row: values[row] for row in concern.rows if values.get(row) is not None}

    def _review(self, node: Mapping, what: str) -> str:
        if "review" not in node:
            return ""
        why = self._text(node, "review", f"'review' of {what}")
        self.problems.mark(node.place_of("review"), f"{what} is to be reviewed: {why}")
        return why

    def _citations(self, node: Mapping, version: str, *, is_reviewed: bool) -> tuple[Citation, ...]:
        """The sources of an answer. What waits for a review may point to nothing: the pointers were another schema's."""
        cite = node.get("cite")
        if cite is None:
            return ()
        complain = self.problems.add if is_reviewed else self.problems.mark
        return read_citations(
            cite, self.schemas.get(version), version, self.problems, complain, self.pages.get(version)
        )

    def _choice(self, concern: Concern, node: Mapping) -> str:
        choice = node.get("choice")
        if choice is None or (isinstance(choice, Scalar) and choice.text in concern.choices):
            return choice.text if isinstance(choice, Scalar) else ""
        what = f"'{choice.text}'" if isinstance(choice, Scalar) else f"a {kind(choice)}"
        self.problems.add(
            choice.place, f"{what} is not a choice of '{concern.name}'; choices: {', '.join(concern.choices)}"
        )
        return ""

    def _arguments(self, concern: Concern, node: Mapping, what: str, place: Place) -> dict[str, Value]:
        given = self._mapping(node, "with", f"'with' of {what}")
        allowed = ", ".join(concern.parameters) or "none"
        for name in given:
            if name not in concern.parameters:
                self.problems.add(
                    given.place_of(name), f"'{name}' is not a parameter of '{concern.name}'; parameters: {allowed}"
                )
        where = node.place_of("with") if "with" in node else place
        for name in concern.parameters:
            if name not in given:
                self.problems.add(where, f"{what} does not give parameter '{name}'; parameters: {allowed}")
        values = self._values(given, concern.parameters, "parameter")
        return {name: values[name] for name in concern.parameters if name in values}

    def _values(self, nodes: Mapping, types: dict[str, Type], what: str) -> dict[str, Value]:
        return {
            name: read_value(node, types[name], f"{what} '{name}'", self.problems)
            for name, node in nodes.entries.items()
            if name in types
        }

    def _check_every_choice_is_answered(self, concern: Concern, answers: dict[str, Answer]) -> None:
        used = {answer.choice for answer in answers.values()}
        for choice, place in concern.choice_places.items():
            if choice not in used:
                self.problems.remark(place, f"choice '{choice}' of '{concern.name}' is answered by no revision")

    def _check_keys(
        self,
        node: Mapping,
        allowed: collections.abc.Sequence[str],
        required: collections.abc.Sequence[str],
        what: str,
        place: Place | None = None,
    ) -> None:
        for key in node:
            if key not in allowed:
                self.problems.add(node.place_of(key), f"'{key}' is not a key of {what}; keys: {', '.join(allowed)}")
        for key in required:
            if key not in node:
                self.problems.add(place or node.place, f"{what} has no '{key}'; keys: {', '.join(allowed)}")

    def _check_names(self, node: Mapping, what: str) -> None:
        for name in node:
            if not _is_public_name(name):
                self.problems.add(node.place_of(name), f"'{name}' is not a name for {what}; {_NAME_RULE}")

    def _text(self, node: Mapping, key: str, what: str) -> str:
        written = node.get(key)
        return read_text(written, what, self.problems) if written is not None else ""

    def _mapping(self, node: Mapping, key: str, what: str) -> Mapping:
        """The mapping under a key; an empty one where the key is absent (said elsewhere, if it is required) or no mapping."""
        written = node.get(key)
        if isinstance(written, Mapping):
            return written
        if written is not None:
            self.problems.add(written.place, f"{what} is {found(written)}; allowed: a mapping")
        return Mapping({}, {}, node.place)


def _quoted(version: str) -> str:
    return f'"{version}"'


_NAME_RULE = "allowed: a Python name that is no keyword, without a leading underscore"


def _is_public_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _is_method_signature(signature: str) -> bool:
    """Whether a method of the class can be defined with it: `self` first, and everything annotated."""
    try:
        statements = ast.parse(f"def method{signature}: ...").body
    except (SyntaxError, ValueError):
        return False
    if len(statements) != 1 or not isinstance(statements[0], ast.FunctionDef):
        return False
    method = statements[0]
    positional = method.args.posonlyargs + method.args.args
    if len(method.body) != 1 or not positional or positional[0].arg != "self":
        return False
    variadic = [argument for argument in (method.args.vararg, method.args.kwarg) if argument]
    annotated = positional[1:] + method.args.kwonlyargs + variadic
    return method.returns is not None and all(argument.annotation is not None for argument in annotated)

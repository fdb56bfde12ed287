"""Reads the vectors under `tests/vectors/`; `tests/vectors/README.md` says what a file may hold.

Rule: strict, since a vector that is misread proves nothing. Unknown and missing keys, doubled keys, doubled names and citations of
no known form are refused with file and line. Texts are texts: only what JSON writes without quotes is anything else.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import yaml

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "vectors"

Json = Any
JsonObject = dict[str, Any]

MessageKind = Literal[
    "client_requests",
    "server_requests",
    "client_notifications",
    "server_notifications",
    "results",
    "answers",
    "responses",
    "errors",
]

# Who sends what a file holds. A file repeats it, so that it can be read alone.
DIRECTIONS: dict[str, str] = {
    "client_requests": "client to server",
    "server_requests": "server to client",
    "client_notifications": "client to server",
    "server_notifications": "server to client",
    "results": "server to client",
    "answers": "client to server",
    "responses": "both ways",
    "errors": "both ways",
}
# What is called with the canonical value, by the name of the file.
ENCODERS: dict[str, str] = {
    "params": "encode_params",
    "results": "encode_result",
    "questions": "encode_question",
    "answers": "encode_answer",
    "notifications": "encode_notification",
    "client_capabilities": "encode_client_capabilities",
    "server_capabilities": "encode_server_capabilities",
    "implementations": "encode_implementation",
}
_WITHOUT_METHOD = (
    "encode_question",
    "encode_client_capabilities",
    "encode_server_capabilities",
    "encode_implementation",
)

# What nobody has looked at yet says so; it is run like all else.
MARK = "review"

_CITATION = re.compile(r"page: [^\s#]+#[^\s#]+|schema: (#/\S+)|policy: (?:seed|project): \S.*")


class BadVectors(Exception):
    """A vector file says what no vector says."""


@dataclasses.dataclass(frozen=True)
class MessageVector:
    """A message, a result or an answer, and whether a revision takes it.

    Attributes:
        revision: whose message it is.
        kind: the file it is in.
        name: a sentence.
        method: of the request that a result or an answer is for; empty for a message, which names its own.
        definition: the published definition that says so.
        message: what is on the wire.
        valid: does the revision take it?
        wrong: what is wrong with it; empty where it is valid.
        refused: the kind of the error with which it is refused.
        error: the kind of an error, by the names of `error_codes`; empty where an adapter knows no such kind.
        only: who alone can judge it: "models" or "adapter"; empty where both do.
    """

    revision: str
    kind: str
    name: str
    method: str
    definition: str
    message: Json
    valid: bool
    wrong: str
    refused: str
    error: str
    only: str


@dataclasses.dataclass(frozen=True)
class EncodingVector:
    """A canonical value and what a revision sends for it, or the error where it can send nothing."""

    revision: str
    kind: str
    name: str
    method: str
    given: JsonObject
    sent: JsonObject | None
    refuses: str
    server: JsonObject


@dataclasses.dataclass(frozen=True)
class CallVector:
    """A call of a concern's method: what it gives (whole, or at least that much), or the error that it raises."""

    name: str
    call: JsonObject
    gives: Json
    at_least: bool
    refuses: str


@dataclasses.dataclass(frozen=True)
class ConcernVectors:
    """What one revision answers to one concern: a constant for a value or a table, calls for a choice."""

    revision: str
    area: str
    concern: str
    kind: str
    constant: Json
    calls: tuple[CallVector, ...]


# --- Files ---


def revisions() -> tuple[str, ...]:
    """The revisions that have vectors, oldest first. One that was taken out of the project may have some still."""
    return tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


def message_kinds(revision: str) -> list[str]:
    """The files of messages that a revision has, by kind."""
    return _kinds(FOLDER / revision, DIRECTIONS)


def encoding_kinds(revision: str) -> list[str]:
    """The files of what it sends, by kind."""
    return _kinds(FOLDER / revision / "encoding", ENCODERS)


def concern_areas(revision: str) -> list[str]:
    """The files of its answers, by area."""
    return sorted(path.stem for path in (FOLDER / revision / "concerns").glob("*.yaml"))


@functools.cache
def vectors_of_messages(revision: str, kind: str) -> tuple[MessageVector, ...]:
    """The vectors of one file of messages."""
    path = FOLDER / revision / f"{kind}.yaml"
    return tuple(read_messages(path.read_text("utf-8"), revision, kind, _shown(path)))


@functools.cache
def vectors_of_encodings(revision: str, kind: str) -> tuple[EncodingVector, ...]:
    """The vectors of one file of what is sent for canonical values."""
    path = FOLDER / revision / "encoding" / f"{kind}.yaml"
    return tuple(read_encodings(path.read_text("utf-8"), revision, kind, _shown(path)))


@functools.cache
def vectors_of_area(revision: str, area: str) -> dict[str, ConcernVectors]:
    """The vectors of one file of answers, by concern."""
    path = FOLDER / revision / "concerns" / f"{area}.yaml"
    return read_concerns(path.read_text("utf-8"), revision, area, _shown(path))


def message_vectors(revision: str) -> list[MessageVector]:
    """All vectors of one revision's messages."""
    return [vector for kind in message_kinds(revision) for vector in vectors_of_messages(revision, kind)]


def encoding_vectors(revision: str) -> list[EncodingVector]:
    """All vectors of what one revision sends for canonical values."""
    return [vector for kind in encoding_kinds(revision) for vector in vectors_of_encodings(revision, kind)]


@functools.cache
def concern_vectors(revision: str) -> dict[str, ConcernVectors]:
    """The vectors of one revision's answers, by concern."""
    found: dict[str, ConcernVectors] = {}
    for area in concern_areas(revision):
        found |= vectors_of_area(revision, area)
    return found


def _kinds(folder: pathlib.Path, known: Iterable[str]) -> list[str]:
    paths = sorted(folder.glob("*.yaml"))
    for path in paths:
        if path.stem not in known:
            raise BadVectors(f"{_shown(path)}: no such kind of file; kinds: {', '.join(known)}")
    return [path.stem for path in paths]


def _shown(path: pathlib.Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read_messages(text: str, revision: str, kind: str, path: str) -> list[MessageVector]:
    """The vectors of one file of messages.

    Args:
        text: of the file.
        revision: whose messages they are.
        kind: a key of `DIRECTIONS`.
        path: for complaints.

    Raises:
        BadVectors: it holds what no such file holds.
    """
    top = _load(text, path)
    _keys(top, path, ("direction", "vectors"), (MARK,))
    if top["direction"] != DIRECTIONS[kind]:
        raise BadVectors(f"{path}: direction is {top['direction']!r}; of {kind} it is {DIRECTIONS[kind]!r}")
    whole = "result" if kind in ("results", "answers") else "message"
    found: list[MessageVector] = []
    for entry in _entries(top["vectors"], path):
        where = f"{path}: {entry.get('name', 'a vector without a name')!r}"
        required = ["name", "cite", "definition", "valid", whole]
        required += ["method"] if whole == "result" else []
        required += ["error"] if kind == "errors" else []
        valid = entry.get("valid")
        required += ["wrong"] if valid is False else []
        required += ["refused"] if valid is False and entry.get("only") != "models" else []
        _keys(entry, where, required, ("only", MARK))
        if not isinstance(valid, bool):
            raise BadVectors(f"{where}: valid is {valid!r}; it is true or false")
        if entry.get("only", "models") not in ("models", "adapter"):
            raise BadVectors(f"{where}: only is {entry['only']!r}; it is models or adapter")
        found.append(
            MessageVector(
                revision=revision,
                kind=kind,
                name=_named(entry, where),
                method=entry.get("method", ""),
                definition=entry["definition"],
                message=entry[whole],
                valid=valid,
                wrong=entry.get("wrong", ""),
                refused=entry.get("refused", ""),
                error=entry.get("error") or "",
                only=entry.get("only", ""),
            )
        )
    _check_unique_names(found, path)
    return found


def read_encodings(text: str, revision: str, kind: str, path: str) -> list[EncodingVector]:
    """The vectors of one file of canonical values and what is sent for them; see `read_messages`."""
    top = _load(text, path)
    _keys(top, path, ("call", "vectors"), ("server", MARK))
    if top["call"] != ENCODERS[kind]:
        raise BadVectors(f"{path}: call is {top['call']!r}; for {kind} it is {ENCODERS[kind]!r}")
    found: list[EncodingVector] = []
    for entry in _entries(top["vectors"], path):
        where = f"{path}: {entry.get('name', 'a vector without a name')!r}"
        outcome = "refuses" if "refuses" in entry else "sent"
        method = () if ENCODERS[kind] in _WITHOUT_METHOD else ("method",)
        _keys(entry, where, ("name", "cite", *method, "given", outcome), ("server", MARK))
        found.append(
            EncodingVector(
                revision=revision,
                kind=kind,
                name=_named(entry, where),
                method=entry.get("method", ""),
                given=entry["given"],
                sent=entry.get("sent"),
                refuses=entry.get("refuses", ""),
                server=entry.get("server") or top.get("server") or {},
            )
        )
    _check_unique_names(found, path)
    return found


def read_concerns(text: str, revision: str, area: str, path: str) -> dict[str, ConcernVectors]:
    """The vectors of one area, by concern; see `read_messages`."""
    found = {}
    for concern, entry in _load(text, path).items():
        where = f"{path}: {concern}"
        if not isinstance(entry, dict):
            raise BadVectors(f"{where}: is {entry!r}; allowed: is, rows or calls")
        kind = "value" if "is" in entry else "table" if "rows" in entry else "choice"
        main = {"value": "is", "table": "rows", "choice": "calls"}[kind]
        _keys(entry, where, (main,) if kind == "choice" else (main, "cite"), (MARK,))
        if kind != "choice":
            _cited(entry, where)
        # A scaffold that nobody has filled yet has none; that its concern lacks them is said elsewhere, and ends no other test.
        listed = _entries(entry["calls"], where) if kind == "choice" and entry["calls"] != [] else []
        calls = tuple(_call(call, where) for call in listed)
        constant = entry[main] if kind != "choice" else None
        _check_unique_names(calls, where)
        found[concern] = ConcernVectors(revision, area, concern, kind, constant, calls)
    return found


def _call(entry: JsonObject, where: str) -> CallVector:
    where = f"{where}: {entry.get('name', 'a call without a name')!r}"
    outcomes = [key for key in ("gives", "gives_at_least", "refuses") if key in entry]
    _keys(entry, where, ("name", "cite", "call", *(outcomes[:1] or ("gives",))))
    return CallVector(
        name=_named(entry, where),
        call=entry["call"],
        gives=entry.get("gives", entry.get("gives_at_least")),
        at_least="gives_at_least" in entry,
        refuses=entry.get("refuses", ""),
    )


# --- What all files have in common ---


def _entries(value: Json, path: str) -> list[JsonObject]:
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        raise BadVectors(f"{path}: no list of mappings")
    return value


def _keys(entry: Mapping[str, Any], where: str, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    required = tuple(required)
    allowed = (*required, *optional)
    for key in entry:
        if key not in allowed:
            raise BadVectors(f"{where}: {key!r} is no key of it; keys: {', '.join(allowed)}")
    for key in required:
        if key not in entry:
            raise BadVectors(f"{where}: lacks {key!r}; keys: {', '.join(allowed)}")


def _named(entry: JsonObject, where: str) -> str:
    name = entry["name"]
    if not isinstance(name, str) or not name:
        raise BadVectors(f"{where}: a name is a sentence")
    _cited(entry, where)
    return name


def _cited(entry: JsonObject, where: str) -> None:
    cite = entry["cite"]
    for one in cite if isinstance(cite, list) else [cite]:
        if not isinstance(one, str) or not _CITATION.fullmatch(one):
            raise BadVectors(
                f"{where}: {one!r} is no citation; forms: page: …#…, schema: #/…, policy: seed|project: …."
            )


def _check_unique_names(vectors: Iterable[MessageVector | EncodingVector | CallVector], path: str) -> None:
    seen: set[str] = set()
    for vector in vectors:
        if vector.name in seen:
            raise BadVectors(f"{path}: two vectors are named {vector.name!r}")
        seen.add(vector.name)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML whose scalars are JSON's, without doubled keys."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise BadVectors(f"line {key.start_mark.line + 1}: {key.value!r} stands there twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _json_scalar(loader: Any, node: Any) -> Any:
    return json.loads(node.value)


_Loader.add_implicit_resolver(
    "!json", re.compile(r"(?:null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)\Z"), list("ntf-0123456789")
)
_Loader.add_constructor("!json", _json_scalar)


def _load(text: str, path: str) -> JsonObject:
    try:
        found = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise BadVectors(f"{path}: {error}") from error
    except BadVectors as error:
        raise BadVectors(f"{path}: {error}") from None
    if not isinstance(found, dict):
        raise BadVectors(f"{path}: no mapping")
    return found

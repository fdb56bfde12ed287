"""Vectors of messages: what a revision takes and what it refuses, by its published schema.

Rule: a vector of the revision that this one is like goes in where the new schema says the same of it, for the same reason. Where the
schemas differ, vectors are made from the new one.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..schemas import methods
from ..schemas.methods import Method
from ..schemas.pointers import LeadsNowhere, follow
from ..schemas.references import reference
from ..schemas.shapes import constant, references, resolved
from .files import Vector, text_renamed
from .samples import Judge, Samples, usual_values

Json = Any


@dataclasses.dataclass(frozen=True)
class Kind:
    """One file of messages: who sends them, which directions of methods they are of, and the unions that name all of those."""

    name: str
    direction: str
    says: str
    of: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()
    noun: str = ""

    @property
    def whole(self) -> str:
        """The key that has the message, or the result."""
        return "result" if self.name in ("results", "answers") else "message"


_WITH_ALL = "with every member"
_TO_SERVER, _TO_CLIENT = "client to server", "server to client"
_QUESTIONS = (methods.SERVER_REQUEST, methods.EMBEDDED_REQUEST)
KINDS = (
    Kind(
        "client_requests",
        _TO_SERVER,
        "Requests that a client sends",
        (methods.CLIENT_REQUEST,),
        ("ClientRequest",),
        "the requests of the client",
    ),
    Kind(
        "server_requests",
        _TO_CLIENT,
        "Requests that a server sends",
        _QUESTIONS,
        ("ServerRequest", "InputRequest"),
        "the requests of the server",
    ),
    Kind(
        "client_notifications",
        _TO_SERVER,
        "Notifications that a client sends",
        (methods.CLIENT_NOTIFICATION,),
        ("ClientNotification",),
        "the notifications of the client",
    ),
    Kind(
        "server_notifications",
        _TO_CLIENT,
        "Notifications that a server sends",
        (methods.SERVER_NOTIFICATION,),
        ("ServerNotification",),
        "the notifications of the server",
    ),
    Kind("results", _TO_CLIENT, "Results of a client's requests", (methods.CLIENT_REQUEST,), ("Result",)),
    Kind("answers", _TO_SERVER, "Answers to a server's requests", _QUESTIONS, ("Result",)),
    Kind("responses", "both ways", "Responses as whole messages"),
    Kind("errors", "both ways", "Errors as whole messages, each kind by its name in `error_codes`"),
)


class Side:
    """One revision: its schema, what is said of it here, and instances of its definitions.

    Args:
        version: its name.
        schema: corrected.
        vectors: of its messages, by kind; those of the revision that it is like, where it has none yet.
        error_codes: its kinds of errors, with their codes.
    """

    def __init__(
        self,
        version: str,
        schema: Mapping[str, Any],
        vectors: Mapping[str, Sequence[Vector]],
        error_codes: Mapping[str, Any],
    ) -> None:
        self.version = version
        self.schema = schema
        self.vectors = vectors
        self.error_codes = error_codes
        self.definitions = schema["$defs"]
        self.judge = Judge(schema)
        self.methods = methods.methods(schema)
        valid = (
            vector.get("message", vector.get("result"))
            for listed in vectors.values()
            for vector in listed
            if vector["valid"]
        )
        self.samples = Samples(self.judge, usual_values(valid))

    def of(self, kind: Kind) -> dict[str, Method]:
        """The methods of a kind, by name."""
        return {method.name: method for method in self.methods if method.direction in kind.of}

    def bare(self, kind: Kind) -> bool:
        """Whether messages of a kind have no envelope, since they stand inside of others."""
        return kind.name == "server_requests" and not any(
            method.direction == methods.SERVER_REQUEST for method in self.methods
        )

    def definitions_of(self, kind: Kind, definition: str) -> tuple[str, ...]:
        """What a message has to meet: its definition, and that of the envelope where it has one."""
        if kind.name.endswith("notifications"):
            return (definition, "JSONRPCNotification")
        if kind.name.endswith("requests") and not self.bare(kind):
            return (definition, "JSONRPCRequest")
        return (definition,)

    def complaints(self, kind: Kind, definition: str, message: Json) -> frozenset[tuple[str | int, ...]]:
        """The places that the schema complains about."""
        names = [name for name in self.definitions_of(kind, definition) if name in self.definitions]
        return frozenset[tuple[str | int, ...]]().union(*(self.judge.complaints(name, message) for name in names))

    @functools.cached_property
    def required_meta(self) -> dict[str, Json]:
        """What every request of a client has to say of itself in `_meta`, each key with a value."""
        base = resolved(reference("RequestParams"), self.definitions)
        if "_meta" not in base.get("required", []):
            return {}
        found: dict[str, Json] = self.samples.bare("RequestParams")["_meta"]
        return found

    def signed(self, message: Vector, keys: Iterable[str]) -> Vector:
        """A request with some of that."""
        params = message.get("params", {})
        added = {key: value for key, value in self.required_meta.items() if key in keys}
        return {**message, "params": {**params, "_meta": {**added, **params.get("_meta", {})}}} if added else message

    def union(self, kind: Kind) -> str:
        """The published union of the messages of a kind."""
        return next((name for name in kind.unions if name in self.definitions), kind.unions[0])


def renamed(value: Json, old: str, new: str) -> Json:
    """A copy of a JSON value with one revision's name in the place of another's."""
    return json.loads(text_renamed(json.dumps(value, ensure_ascii=False), old, new))


def cited(cite: Json, schema: Mapping[str, Any], instead: Sequence[str]) -> Json:
    """The sources of a vector without those that lead nowhere in another schema; others instead where none is left."""
    sources = cite if isinstance(cite, list) else [cite]
    kept = [source for source in sources if not source.startswith("schema: #/") or _leads(source, schema)]
    kept = kept or list(instead)
    return kept if isinstance(cite, list) or len(kept) > 1 else kept[0]


def _leads(source: str, schema: Mapping[str, Any]) -> bool:
    try:
        follow(schema, source.removeprefix("schema: #"))
    except LeadsNowhere:
        return False
    return True


class Scaffold:
    """Makes the vectors of one revision's messages.

    Args:
        new: the revision.
        old: the one that it is like.
        everywhere: the revisions that there are, the new one among them; newest last.
        names: definitions of the old one that the new one has under another name.
    """

    def __init__(self, new: Side, old: Side, everywhere: Sequence[Side], names: Mapping[str, str]) -> None:
        self.new = new
        self.old = old
        self.everywhere = everywhere
        self.names = names
        new.samples.known = frozenset(
            name
            for name in new.definitions
            if name in old.definitions and closure(name, new.definitions) == closure(name, old.definitions)
        )

    def vectors(self, kind: Kind) -> list[Vector]:
        """All vectors of a kind, the copied ones first."""
        copied = [self._adapted(kind, vector) for vector in self.old.vectors.get(kind.name, ())]
        found = [vector for vector in copied if vector is not None]
        made: list[Vector] = []
        if kind.of:
            made += self._unknown(kind, found)
            for method in self.new.of(kind).values():
                made += self._of_method(kind, method, found)
        elif kind.name == "errors":
            made += self._errors(found)
        made += self._unshown(kind, [*found, *made])
        return _distinct(found, made)

    # What is taken over.

    def _adapted(self, kind: Kind, vector: Vector) -> Vector | None:
        """A vector of the old revision, if the new schema says the same of it."""
        out = renamed(vector, self.old.version, self.new.version)
        definition = self.names.get(out["definition"], out["definition"])
        message, method = out[kind.whole], method_of(kind, out)
        if "error" in out and out["error"] and out["error"] not in self.new.error_codes:
            return None
        if kind.of and out.get("refused") == "method_not_found" and method not in self.old.of(kind):
            if method in self.new.of(kind):
                return None
            definition = definition if definition in self.new.definitions else self.new.union(kind)
        elif kind.of and method in self.old.of(kind) and method not in self.new.of(kind):
            return None
        if definition not in self.new.definitions:
            return None
        if self.new.bare(kind) and not self.old.bare(kind) and out.get("refused") == "invalid_request":
            return None
        if kind.name == "client_requests" and (message := self._signed(message)) is None:
            return None
        out |= {kind.whole: message}
        out |= {"definition": definition, "cite": self._cited(out["cite"], definition)}
        before = self.old.complaints(kind, vector["definition"], vector[kind.whole])
        now = self.new.complaints(kind, definition, message)
        if kind.name == "errors" and out["error"] and not self._same_code(out["error"]):
            return None
        return out if before == now else None

    def _signed(self, message: Json) -> Json:
        """A request with what the new schema, and not the old one, wants every request to say; None where it cannot say it."""
        added = self.new.required_meta.keys() - self.old.required_meta.keys()
        if not added or not isinstance(message, dict) or not isinstance(message.get("params", {}), dict):
            return message
        if "params" not in message:
            return None
        return self.new.signed(message, added) if isinstance(message["params"].get("_meta", {}), dict) else message

    def _same_code(self, error: str) -> bool:
        return bool(self.old.error_codes.get(error) == self.new.error_codes[error])

    def _cited(self, cite: Json, definition: str) -> Json:
        return cited(cite, self.new.schema, [f"schema: #/$defs/{definition}"])

    # What is made.

    def _unknown(self, kind: Kind, found: Iterable[Vector]) -> Iterator[Vector]:
        """A vector for each method that another revision has and this one has not."""
        shown = {method_of(kind, vector) for vector in found}
        for other in reversed(self.everywhere):
            for name in other.of(kind):
                if name not in shown and name not in self.new.of(kind):
                    shown.add(name)
                    yield unknown(kind, name, self.new, other)

    def _of_method(self, kind: Kind, method: Method, found: Iterable[Vector]) -> list[Vector]:
        """Vectors of one method, where what was taken over does not say all of it."""
        mine = [vector for vector in found if method_of(kind, vector) == method.name]
        same = self.old.of(kind).get(method.name)
        definitions = (method.definition,) if kind.whole == "message" else method.results
        before = () if same is None else (same.definition,) if kind.whole == "message" else same.results
        known = bool(before) and {vector["valid"] for vector in mine} == {True, False}
        if known and self._as_before(before, definitions):
            return []
        # What else a result may be is the same for several methods; what was taken over shows it, unless it is new. Where no constant
        # tells it from the usual result, the schema does not say enough to make one.
        shown = {vector["definition"] for vector in mine}
        made = [
            vector
            for number, definition in enumerate(definitions)
            if number == 0 or (definition not in shown and self._is_told(definition))
            for vector in self._of_definition(kind, method.name, definition, alone=number == 0)
        ]
        # Where both schemas say the same of a message, what was taken over shows the like; but for members that only the new one names.
        return [
            one
            for one in made
            if not known or one["name"].endswith(_WITH_ALL) or self._is_news(kind, {definitions[0]: before[0]}, one)
        ]

    def _is_news(self, kind: Kind, before: Mapping[str, str], vector: Vector) -> bool:
        """Whether the old schema says something else of a message than the new one; `before` has definitions by their new names."""
        now, message = vector["definition"], vector[kind.whole]
        old = before.get(now, now)
        if old not in self.old.definitions:
            return True
        return self.old.complaints(kind, old, message) != self.new.complaints(kind, now, message)

    def _is_told(self, definition: str) -> bool:
        members = resolved(reference(definition), self.new.definitions).get("properties", {})
        return any(constant(resolved(node, self.new.definitions)) is not None for node in members.values())

    def _as_before(self, before: Sequence[str], now: Sequence[str]) -> bool:
        return [closure(name, self.old.definitions) for name in before] == [
            closure(name, self.new.definitions) for name in now
        ]

    def _of_definition(self, kind: Kind, method: str, definition: str, *, alone: bool) -> Iterator[Vector]:
        who = f"{method}: a result" if kind.whole == "result" else method
        who = who if alone else f"{who} of the kind {definition}"
        whole = self._message(kind, self.new.samples.full(definition))
        bare = self._message(kind, self.new.samples.bare(definition))
        good = [("with what it must have", bare), (_WITH_ALL, whole)]
        if not alone:
            # What any request may be answered with is the same everywhere, and broken in one place.
            for words, message in good:
                if not self.new.complaints(kind, definition, message):
                    yield self._vector(kind, f"{who} {words}", method, definition, message)
            return
        good += [
            (f"in which {words}", self._message(kind, value))
            for words, path, value in self.new.samples.variants(definition)
            if not self._is_about_meta(kind, path)
        ]
        for words, message in good:
            if not self.new.complaints(kind, definition, message):
                yield self._vector(kind, f"{who} {words}", method, definition, message)
        for words, path, broken in self.new.samples.broken(definition):
            refused = _refused(kind, path)
            if refused and not self._is_about_meta(kind, path):
                name = f"{who} in which {words}"
                message = self._message(kind, broken)
                yield self._vector(kind, name, method, definition, message, wrong=words, refused=refused)
        if kind.whole == "message":
            yield from self._envelopes(kind, method, definition, whole)

    def _is_about_meta(self, kind: Kind, path: tuple[str | int, ...]) -> bool:
        """What every request has to say of its sender is the same for all of them, and worded by the inventory."""
        return kind.name == "client_requests" and "_meta" in path

    def _envelopes(self, kind: Kind, method: str, definition: str, whole: Json) -> Iterator[Vector]:
        loud = {**whole, "method": method.upper()}
        yield self._vector(
            kind,
            f"{method} in capitals",
            method,
            self.new.union(kind),
            loud,
            wrong="no method is spelt so",
            refused="method_not_found",
        )
        if self.new.bare(kind):
            return
        requests = kind.name.endswith("requests")
        broken = [
            ("jsonrpc is '1.0'", {**whole, "jsonrpc": "1.0"}),
            ("params is a text", {**whole, "params": "low tide"}),
        ]
        broken += (
            [("id is null", {**whole, "id": None})] if requests else [("an id makes it a request", {**whole, "id": 1})]
        )
        for words, message in broken:
            yield self._vector(
                kind,
                f"{method}: {words}",
                method,
                definition,
                message,
                wrong=words,
                refused="invalid_request",
                only="" if self.new.complaints(kind, definition, message) else "adapter",
            )

    def _message(self, kind: Kind, value: Json) -> Json:
        """A message with the envelope that its definition may leave out."""
        if kind.whole == "result" or not kind.of or not isinstance(value, dict) or self.new.bare(kind):
            return value
        envelope = {"jsonrpc": "2.0", "id": 1} if kind.name.endswith("requests") else {"jsonrpc": "2.0"}
        rest = {name: inner for name, inner in value.items() if name not in ("jsonrpc", "id", "method", "params")}
        ordered = {name: value[name] for name in ("jsonrpc", "id", "method", "params") if name in value}
        return {**envelope, **{name: value_ for name, value_ in ordered.items() if name != "id"}, **rest}

    def _vector(
        self,
        kind: Kind,
        name: str,
        method: str,
        definition: str,
        message: Json,
        *,
        wrong: str = "",
        refused: str = "",
        only: str = "",
    ) -> Vector:
        out: Vector = {"name": name}
        out |= {"method": method} if kind.whole == "result" else {}
        out |= {"definition": definition, "cite": f"schema: #/$defs/{definition}", "valid": not wrong}
        out |= {"wrong": wrong, "refused": refused} if wrong else {}
        out |= {"only": only} if only else {}
        return out | {kind.whole: message}

    def _errors(self, found: Iterable[Vector]) -> Iterator[Vector]:
        """A valid and an invalid vector for each kind of error that has none yet."""
        shown = {(vector["error"], vector["valid"]) for vector in found}
        envelopes = [name for name in ("JSONRPCErrorResponse", "JSONRPCError") if name in self.new.definitions]
        for error, code in self.new.error_codes.items() if envelopes else ():
            envelope = envelopes[0]
            words = error.replace("_", " ")
            said = {"code": code, "message": f"refused: {words}"}
            message = {"jsonrpc": "2.0", "id": 1, "error": said}
            base = {"definition": envelope, "cite": f"schema: #/$defs/{envelope}"}
            if (error, True) not in shown:
                yield {"name": f"the error for {words}", **base, "valid": True, "error": error, "message": message}
            if (error, False) not in shown:
                yield {
                    "name": f"the error for {words} under the code of no kind",
                    **base,
                    "valid": False,
                    "wrong": "the code is that of no kind of error",
                    "refused": "invalid_request",
                    "error": error,
                    "only": "adapter",
                    "message": {**message, "error": {**said, "code": -99}},
                }

    def _unshown(self, kind: Kind, found: Iterable[Vector]) -> Iterator[Vector]:
        """A vector for each published response and error that has none yet."""
        shown = {vector["definition"] for vector in found if vector["valid"]}
        suffix = {"responses": "ResultResponse", "errors": "Error"}.get(kind.name)
        if suffix is None:
            return
        for name in published(self.new.schema, suffix):
            value = self.new.samples.full(name)
            if name not in shown and isinstance(value, dict) and self.new.judge.takes(name, value):
                error = kind.name == "errors"
                base = {"definition": name, "cite": f"schema: #/$defs/{name}"}
                # A bare object of an error is no message, which an adapter could take.
                only = {} if "jsonrpc" in value or not error else {"only": "models"}
                yield {
                    "name": f"a {name}",
                    **base,
                    "valid": True,
                    **({"error": None} if error else {}),
                    **only,
                    "message": value,
                }


def unknown(kind: Kind, method: str, here: Side, there: Side) -> Vector:
    """A vector that says that a revision does not have a method, as another revision would send it."""
    definition = here.union(kind)
    out: Vector = {"name": f"{method}, which this revision does not have"}
    if kind.whole == "result":
        out |= {"name": f"a result of {method}, which this revision does not have", "method": method}
    out |= {"definition": definition, "cite": f"schema: #/$defs/{definition}", "valid": False}
    if kind.whole == "result":
        return out | {
            "wrong": "nobody can have asked for it",
            "refused": "method_not_found",
            "only": "adapter",
            "result": {},
        }
    message = renamed(there.samples.full(there.of(kind)[method].definition), there.version, here.version)
    envelope = {"jsonrpc": "2.0", "id": 1} if kind.name.endswith("requests") else {"jsonrpc": "2.0"}
    inner = {name: value for name, value in message.items() if name not in ("jsonrpc", "id")}
    message = inner if here.bare(kind) else {**envelope, **inner}
    message = here.signed(message, here.required_meta) if kind.name == "client_requests" else message
    refused = bool(here.complaints(kind, definition, message))
    return out | {
        "wrong": f"no such method is among {kind.noun}",
        "refused": "method_not_found",
        **({} if refused else {"only": "adapter"}),
        "message": message,
    }


def published(schema: Mapping[str, Any], suffix: str) -> list[str]:
    """The published definitions with a suffix that are objects and no mere names of others."""
    names = schema.get("x-published", list(schema["$defs"]))
    definitions = schema["$defs"]
    found = []
    for name in sorted(names):
        node = definitions.get(name, {})
        if name.endswith(suffix) and name != suffix and "properties" in resolved(node, definitions):
            found.append(name)
    return found


def method_of(kind: Kind, vector: Vector) -> str:
    """The method that a vector is about; empty where its message names none."""
    if kind.whole == "result":
        return str(vector["method"])
    message = vector["message"]
    method = message.get("method", "") if isinstance(message, dict) else ""
    return method if isinstance(method, str) else ""


def _refused(kind: Kind, path: tuple[str | int, ...]) -> str:
    """With which kind of error a message is refused that is wrong at a place; empty where other vectors say it better."""
    if kind.whole == "result":
        return "invalid_params"
    if path == ("params",) or len(path) > 1:
        return "invalid_params" if len(path) > 1 else ""
    return ""


def closure(name: str, definitions: Mapping[str, Any]) -> str:
    """A definition with everything that it refers to, as text."""
    found: dict[str, Any] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found and one in definitions:
            found[one] = definitions[one]
            waiting += references(definitions[one])
    return json.dumps([definitions.get(name), found], sort_keys=True)


def _distinct(found: Sequence[Vector], made: Iterable[Vector]) -> list[Vector]:
    """Both, without made ones that say what another says already, and with no name given twice."""
    out = list(found)
    names = {vector["name"] for vector in found}
    said = {json.dumps(_content(vector), sort_keys=True) for vector in found}
    for vector in made:
        content = json.dumps(_content(vector), sort_keys=True)
        if content in said:
            continue
        said.add(content)
        name, number = vector["name"], 2
        while vector["name"] in names:
            vector = {**vector, "name": f"{name} ({number})"}
            number += 1
        names.add(vector["name"])
        out.append(vector)
    return out


def _content(vector: Vector) -> Json:
    return {key: vector.get(key) for key in ("method", "definition", "message", "result", "error", "only")}

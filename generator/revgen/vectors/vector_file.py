"""What a vector needs before somebody can say that it is right, as models; what it lacks is a fault with its place.

Rule: whether a vector is whole is all that is asked here. Whether it is right, its tests say, which read it for themselves.
"""

from __future__ import annotations

import pathlib
from typing import Annotated, Any, Self, TypeVar

import pydantic

from ..inventory.citations import Citations
from ..reading.located import Problem, Problems, Scalar, Sequence, load
from ..reading.models import ByKey, Forgiving, LocatedText, Part, Text, not_allowed, read, wrong


def _json(node: Any) -> Any:
    # Text is quoted where it is empty, so nothing at all is what nobody has written yet.
    if isinstance(node, Scalar) and not (node or node.quoted):
        raise not_allowed("JSON")
    return node


def _verdict(node: Any) -> bool:
    if not isinstance(node, Scalar) or node.quoted or node not in ("true", "false"):
        raise not_allowed("true, false")
    return node == "true"


def _several(node: Any) -> Any:
    if not isinstance(node, Sequence) or not node:
        raise not_allowed("a list, with one item at least")
    return node


Json = Annotated[Any, pydantic.PlainValidator(_json)]
Verdict = Annotated[bool, pydantic.PlainValidator(_verdict)]
_V = TypeVar("_V", bound=Part)
Several = Annotated[tuple[Annotated[_V | None, Forgiving()], ...], pydantic.BeforeValidator(_several)]


class _Marked(Part):
    """What may wait for a review."""

    review: Text | None = None


class _Vector(_Marked):
    """What every vector has: a name, once a file, and a source."""

    name: LocatedText
    citations: Citations = pydantic.Field(alias="cite")


class Message(_Vector):
    """A message, and whether a revision takes it."""

    model_config = pydantic.ConfigDict(title="vector")

    definition: Text
    valid: Verdict
    message: Json
    wrong: Text = ""
    refused: Text = ""
    only: Text = ""

    @pydantic.model_validator(mode="after")
    def _says_why(self) -> Self:
        if not self.valid and not self.wrong:
            raise wrong(f"vector '{self.name}' is not valid, and has no 'wrong'; allowed: what is wrong with it")
        if not self.valid and not self.refused and self.only != "models":
            raise wrong(f"vector '{self.name}' is not valid, and has no 'refused'; allowed: the kind of the error")
        return self


class Result(Message):
    """A result or an answer, and whether a revision takes it."""

    model_config = pydantic.ConfigDict(title="vector")

    method: Text
    message: Json = pydantic.Field(alias="result")


class Error(Message):
    """An error, of a kind that an adapter may not know."""

    model_config = pydantic.ConfigDict(title="vector")

    error: Json


class _Outcome(_Vector):
    """What becomes of something; exactly one of its keys says it."""

    refuses: Text | None = None

    def _require_one(self, *keys: str) -> Self:
        if len(self.model_fields_set.intersection(keys)) != 1:
            raise wrong(f"'{self.name}' does not say what becomes of it; allowed: one of the keys {', '.join(keys)}")
        return self


class Encoding(_Outcome):
    """A canonical value, and what is sent for it."""

    model_config = pydantic.ConfigDict(title="vector")

    method: Text | None = None
    given: Json
    sent: Json = None
    server: Json = None

    @pydantic.model_validator(mode="after")
    def _has_an_outcome(self) -> Self:
        return self._require_one("sent", "refuses")


class Call(_Outcome):
    """A call of a concern's method, and what it gives."""

    model_config = pydantic.ConfigDict(title="call")

    call: Json
    gives: Json = None
    gives_at_least: Json = None

    @pydantic.model_validator(mode="after")
    def _has_an_outcome(self) -> Self:
        return self._require_one("gives", "gives_at_least", "refuses")


class _Constant(_Marked):
    """A constant with its source."""

    citations: Citations = pydantic.Field(alias="cite")


class ValueVectors(_Constant):
    """What a revision answers to a concern that is a value."""

    model_config = pydantic.ConfigDict(title="concern")

    is_: Json = pydantic.Field(alias="is")


class TableVectors(_Constant):
    """What a revision answers to a concern that is a table."""

    model_config = pydantic.ConfigDict(title="concern")

    rows: Json


class ChoiceVectors(_Marked):
    """What the method of a revision gives for a concern that is a choice."""

    model_config = pydantic.ConfigDict(title="concern")

    calls: Several[Call]


Answers = Annotated[
    Annotated[ValueVectors, pydantic.Tag("is")]
    | Annotated[TableVectors, pydantic.Tag("rows")]
    | Annotated[ChoiceVectors, pydantic.Tag("calls")],
    ByKey("is", "rows", "calls"),
]


class _File(_Marked):
    """A list of vectors; what they have in common stands above it."""

    model_config = pydantic.ConfigDict(title="file")


class MessageFile(_File):
    """Messages of one kind."""

    direction: Text
    vectors: Several[Message]


class ResultFile(_File):
    """Results, or answers."""

    direction: Text
    vectors: Several[Result]


class ErrorFile(_File):
    """Errors as whole messages."""

    direction: Text
    vectors: Several[Error]


class EncodingFile(_File):
    """What is sent for values of one kind."""

    call: Text
    server: Json = None
    vectors: Several[Encoding]


_FILES: dict[str, type[Part]] = {"results": ResultFile, "answers": ResultFile, "errors": ErrorFile}
_ANSWERS = pydantic.TypeAdapter[Any](
    Annotated[Answers | None, Forgiving()], config=pydantic.ConfigDict(defer_build=True)
)


def unwritten(root: pathlib.Path, path: str, concern: str = "") -> tuple[Problem, ...]:
    """What vectors lack that nobody has written yet, each with its place and what is to stand there.

    Args:
        root: the folder that holds `tests/`.
        path: the file, relative to it.
        concern: the one that is looked at in a file of answers; empty for a file of vectors.
    """
    problems = Problems()
    top = load(root, path, problems)
    kind = pathlib.PurePosixPath(path)
    if concern and top is not None:
        _ANSWERS.validate_python(top[Scalar(concern)], context=problems)
    elif top is not None:
        read(EncodingFile if kind.parent.name == "encoding" else _FILES.get(kind.stem, MessageFile), top, problems)
    return tuple(problems.found)

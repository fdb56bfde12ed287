"""What a function returns, as its annotation says.

Rule: a value goes out as the annotation says, and not as the object happens to be: a member that only a subclass has stays here, and
a serializer in the annotation counts. What does not fit the annotation is first made into what it says.
Specification: server/tools#tool-result
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from mcp_contract import JsonObject
from mcp_contract.validators import describe
from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from mcp_anyrev.declaring.canonical_values import CANONICAL
from mcp_anyrev.declaring.media import Media
from mcp_anyrev.declaring.model_schemas import schema_of

_NOTHING = (inspect.Signature.empty, None, type(None), Any, object)
_WAITED_FOR = (collections.abc.Awaitable, collections.abc.Coroutine)
_ONE_BY_ONE = (collections.abc.Iterable, collections.abc.Iterator, collections.abc.Generator)
_LISTS = (list, tuple, collections.abc.Sequence, *_ONE_BY_ONE)
_BYTES = (bytes, bytearray, memoryview)
_NO_BYTES = "bytes, which JSON has not; return an Image, an Audio or a File"


class UnusableResult(Exception):
    """A function returned what it must not; the text is for the log."""


class Returned:
    """What a return annotation says.

    Args:
        annotation: the annotation; `inspect.Signature.empty` for none.

    Attributes:
        annotation: the same, without what only says how the value comes.
        says_nothing: does it leave open what comes?
        is_content: does it speak of content blocks, or of whole results?
        leaves_text_alone: does text go out as it is?
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = _what_comes(annotation)
        self.says_nothing = any(self.annotation is nothing for nothing in _NOTHING)
        classes = classes_of(self.annotation)
        self.is_content = any(map(_is_content, classes))
        self.leaves_text_alone = self.annotation is str or self.says_nothing or self.is_content
        opened = _opened(self.annotation)
        self._model = opened if isinstance(opened, type) and issubclass(opened, BaseModel) else None
        self._says_nothing_of_members = BaseModel in classes

    @cached_property
    def is_text(self) -> bool:
        """Is it text, or nothing, and sent as no other?"""
        if self.annotation is str:
            return True
        if not _is_text(self.annotation):
            return False
        return self._adapter is not None and _says_text(schema_of(self.annotation, "serialization", self._adapter))

    @property
    def is_message(self) -> bool:
        """Can it be messages of a prompt: text, content, messages, several of these, or none?"""
        return self.says_nothing or all(map(_is_message, _alternatives(self.annotation)))

    @property
    def lists_texts(self) -> bool:
        """Is it a list of texts, or a whole result?"""
        return self.says_nothing or all(map(_lists_texts, _alternatives(self.annotation)))

    @cached_property
    def schema(self) -> JsonObject | None:
        """The schema of structured values; None for text, content, a whole result, or anything at all.

        Raises:
            ValueError: the type has none.
        """
        self.check()
        if self.says_nothing or self.is_content or self.annotation is str:
            return None
        try:
            self._adapter = TypeAdapter(self.annotation)
            return None if self.is_text else schema_of(self.annotation, "serialization", self._adapter)
        except PydanticUserError as error:
            raise ValueError(f"what it returns has no JSON Schema: {error.message}") from None

    def check(self, *, takes_bytes: bool = False) -> None:
        """See that it has no bytes of which nothing says what they are, and content only where content can stand.

        Args:
            takes_bytes: can bytes be sent?

        Raises:
            ValueError: it has.
        """
        if not takes_bytes and _has_raw_bytes(self.annotation):
            raise ValueError(f"it returns {_NO_BYTES}")
        misplaced = _misplaced_media(self.annotation)
        if misplaced is not None:
            raise ValueError(f"it returns {misplaced.__name__} within something else; it stands alone, or in a list")

    def plain(self, value: Any) -> Any:
        """A value as plain JSON, which may still hold infinities.

        Raises:
            UnusableResult: it is not what the annotation says, or no JSON.
        """
        adapter = self._adapter
        if isinstance(value, _BYTES):  # nothing said so beforehand; some would pass for text, and others not
            raise UnusableResult(f"the result is {_NO_BYTES}")
        try:
            if adapter is None:
                return to_jsonable_python(value, by_alias=True)
            return self._written(adapter, value)
        except (PydanticSerializationError, ValueError) as error:
            raise UnusableResult(f"the result is no JSON: {error}") from None

    def _written(self, adapter: TypeAdapter[Any], value: Any) -> Any:
        as_any = self._says_nothing_of_members
        serializer = adapter.serializer
        try:
            if self._model is not None and not isinstance(value, self._model):
                value = self._made(adapter, value)
            return serializer.to_python(value, mode="json", by_alias=True, serialize_as_any=as_any, warnings="error")
        except PydanticSerializationError:
            made = self._made(adapter, value)
        try:
            return serializer.to_python(made, mode="json", by_alias=True, serialize_as_any=as_any, warnings="error")
        except PydanticSerializationError:
            # What is of a subclass is left so, and a union then takes a mapping that holds it as it is. Read anew, it is of the class.
            opened = serializer.to_python(made, by_alias=False, serialize_as_any=as_any, warnings=False)
            made = self._made(adapter, opened)
        return serializer.to_python(made, mode="json", by_alias=True, serialize_as_any=as_any, warnings=False)

    def _made(self, adapter: TypeAdapter[Any], value: Any) -> Any:
        """What the annotation says, of what has it: a dictionary, or an object of another class."""
        try:
            return adapter.validator.validate_python(value, from_attributes=True, by_alias=True, by_name=True)
        except ValidationError as error:
            raise UnusableResult(f"the result is not what its annotation says: {describe(error, value)}") from None

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        """What writes the annotation's values; None where it does not say how."""
        if self.says_nothing:
            return None
        try:
            return TypeAdapter(self.annotation)
        except PydanticUserError:
            return None


def _what_comes(annotation: Any) -> Any:
    """An annotation without the awaitable around it; what comes one by one is a list when it has come."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _WAITED_FOR and arguments:
        return _what_comes(arguments[-1])
    if origin in _ONE_BY_ONE and arguments:
        return list[arguments[0]]  # type: ignore[valid-type]  # made at run time
    return annotation


def _opened(annotation: Any) -> Any:
    """What an alias or a new type stands for."""
    while True:
        stands_for = getattr(annotation, "__value__", None) or getattr(annotation, "__supertype__", None)
        if stands_for is None:
            return annotation
        annotation = stands_for


def classes_of(annotation: Any) -> list[type]:
    """All classes within an annotation, aliases and unions opened."""
    annotation = _opened(annotation)
    arguments = typing.get_args(annotation)
    if not arguments:
        return [annotation] if isinstance(annotation, type) else []
    return [one for argument in arguments for one in classes_of(argument)]


def _alternatives(annotation: Any) -> list[Any]:
    """What a union leaves to choose from; constants stand for themselves."""
    annotation = _opened(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _alternatives(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return [one for argument in arguments for one in _alternatives(argument)]
    return list(arguments) if origin is typing.Literal else [annotation]


def _is_text(annotation: Any) -> bool:
    """Is a value of it text or nothing?"""
    texts = [one for one in _alternatives(annotation) if one is not None and one is not type(None)]
    return bool(texts) and all(
        isinstance(one, str)
        or (isinstance(one, type) and issubclass(one, str))
        or (isinstance(one, enum.EnumType) and all(isinstance(each.value, str) for each in _members(one)))
        for one in texts
    )


def _members(constants: enum.EnumType) -> Iterable[enum.Enum]:
    named: Mapping[str, enum.Enum] = constants.__members__
    return named.values()


def _says_text(schema: JsonObject) -> bool:
    definitions = schema.get("$defs", {})

    def text(part: JsonObject) -> bool:
        if "$ref" in part:
            return text(definitions[part["$ref"].rpartition("/")[2]])
        if "anyOf" in part:
            return all(map(text, part["anyOf"]))
        named = part.get("type")
        return named in ("string", "null") or named == ["string", "null"]

    return text(schema)


def _is_message(alternative: Any) -> bool:
    if any(alternative is one for one in _NOTHING) or _is_content(alternative) or _is_text(alternative):
        return True
    origin = typing.get_origin(alternative) or alternative
    inner = [one for one in typing.get_args(alternative) if one is not Ellipsis]
    return origin in _LISTS and all(_is_message(one) for item in inner for one in _alternatives(item))


def _lists_texts(alternative: Any) -> bool:
    if _is_content(alternative):
        return True
    origin = typing.get_origin(alternative) or alternative
    inner = [one for one in typing.get_args(alternative) if one is not Ellipsis]
    return origin in _LISTS and all(one is Any or _is_text(one) for one in inner)


def _is_content(alternative: Any) -> bool:
    """Is it a class of content, or of a whole result?"""
    return isinstance(alternative, type) and any(
        one.__module__ == CANONICAL or one is Media for one in alternative.__mro__
    )


def _misplaced_media(annotation: Any, depth: int = 0) -> type | None:
    """What of it is content where none can stand: deeper than in one list."""
    annotation = _opened(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if not arguments:
        return annotation if depth > 1 and isinstance(annotation, type) and issubclass(annotation, Media) else None
    if origin not in (typing.Annotated, typing.Union, types.UnionType):
        depth += 1 if origin in _LISTS else 2
    found = (_misplaced_media(argument, depth) for argument in arguments)
    return next((one for one in found if one is not None), None)


def _has_raw_bytes(annotation: Any) -> bool:
    """Are there bytes in it that nothing makes into text?"""
    annotation = _opened(annotation)
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *metadata = typing.get_args(annotation)
        return _has_raw_bytes(inner) and not any(hasattr(one, "__get_pydantic_core_schema__") for one in metadata)
    arguments = typing.get_args(annotation)
    return (
        annotation in _BYTES if isinstance(annotation, type) and not arguments else any(map(_has_raw_bytes, arguments))
    )


ANYTHING = Returned(Any)
"""What is said of a value that no annotation speaks of."""

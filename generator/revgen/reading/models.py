"""What a file of specs may hold, as pydantic models; what is wrong becomes a fault with its place, in one wording.

Rule: nothing here knows what a file means. A model is a mapping with fixed keys; what else may stand in it is a type of this module or of
`literals`. The JSON Schema for editors follows from the same models, and nothing here runs for it before it is asked for.
"""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Self, TypeVar

import pydantic
from pydantic.annotated_handlers import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from .located import Mapping, Node, Place, Problems, Scalar, found, is_null, kind, shown, standing_at

_SAID = "said"
_NOT_ALLOWED = "not_allowed"
_WRONG = "wrong"
_LITERAL = re.compile(r"'([^']*)'")
_KINDS = {"dict_type": "a mapping", "list_type": "a list", "tuple_type": "a list", "too_short": "at least one"}


class Part(pydantic.BaseModel):
    """A mapping with fixed keys, any other of which is a fault. Its title is what a complaint calls it."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=True)

    _place: Place | None = pydantic.PrivateAttr(default=None)
    _key: str | None = pydantic.PrivateAttr(default=None)
    _places: dict[str, tuple[Place, Place]] = pydantic.PrivateAttr(default_factory=dict)

    @property
    def places(self) -> dict[str, Place]:
        """Where the value of each of its keys stands."""
        return {key: place for key, (_, place) in self._places.items()}

    @property
    def key(self) -> str:
        """The key that it stands under."""
        assert self._key is not None
        return self._key

    @property
    def place(self) -> Place:
        """Where it stands: at the key that has it, if one does."""
        assert self._place is not None
        return self._place

    def place_of(self, key: str) -> Place:
        """Where the value of one of its keys stands; the whole itself where it has no such key."""
        return self._places[key][1] if key in self._places else self.place

    def key_place(self, key: str) -> Place:
        """Where one of its keys stands; the whole itself where it has no such key."""
        return self._places[key][0] if key in self._places else self.place

    @classmethod
    def allowed_keys(cls) -> list[str]:
        """Its keys as the file has them, in order."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _read(cls, node: Any, handler: pydantic.ModelWrapValidatorHandler[Self], info: pydantic.ValidationInfo) -> Self:
        """Say what is wrong here, where it is known what is allowed, and keep the places of what is right."""
        try:
            part = handler(node)
        except pydantic.ValidationError as error:
            if isinstance(info.context, Problems):
                _say(error, cls, node, info.context)
                raise PydanticCustomError(_SAID, _SAID) from None
            raise
        if isinstance(node, Mapping):
            part._place = standing_at(node)
            part._key = str(node.key) if node.key is not None else None
            part._places = {str(key): (standing_at(value), value.place) for key, value in node.items()}
        return part


_P = TypeVar("_P", bound=Part)


def read(model: type[_P], node: Mapping | None, problems: Problems) -> _P | None:
    """A loaded file as a model; None after complaints, if it is not what the model says.

    Args:
        model: what the file may hold.
        node: its top, from `located.load`; None where it could not be loaded.
        problems: receives everything that is wrong with it, each fault at its place.
    """
    if node is None:
        return None
    try:
        return model.model_validate(node, context=problems)
    except pydantic.ValidationError:
        return None


def not_allowed(allowed: str) -> PydanticCustomError:
    """The error for a node that is not what it should be: to be raised by a validator, with what is allowed instead."""
    return PydanticCustomError(_NOT_ALLOWED, _NOT_ALLOWED, {"allowed": allowed})


def wrong(message: str, *, key: str = "", place: Place | None = None) -> PydanticCustomError:
    """The error for parts that contradict each other: to be raised by a validator, with the key to blame, or the place."""
    return PydanticCustomError(_WRONG, _WRONG, {"message": message, "key": key, "place": place})


def by_kind(allowed: str) -> pydantic.Discriminator:
    """What a union is annotated with whose parts are tagged with kinds of nodes: `text`, `list`, `mapping`."""
    return pydantic.Discriminator(
        kind,
        custom_error_type=_NOT_ALLOWED,
        custom_error_message=_NOT_ALLOWED,
        custom_error_context={"allowed": allowed},
    )


def without_meant(missing: Sequence[str], given: Iterable[str], known: Container[str]) -> list[str]:
    """What is missing, but for what was given under a name that is nearly the same, which is said already."""
    unknown = [name for name in given if name not in known]
    meant = {near for name in unknown for near in difflib.get_close_matches(name, missing, n=1, cutoff=0.8)}
    return [name for name in missing if name not in meant]


def near(name: str, known: Iterable[str]) -> str:
    """What may be meant, as a part of a complaint; empty where nothing is near."""
    names = difflib.get_close_matches(name[:64], list(dict.fromkeys(known)), n=3)
    return f"; near: {', '.join(names)}" if names else ""


def _say(
    error: pydantic.ValidationError, model: type[Part] | None, node: Node, problems: Problems, *, is_key: bool = False
) -> None:
    """Put every error that nobody inside has said yet into words, at its place."""
    errors = error.errors(include_url=False)
    unknown = [str(one["loc"][-1]) for one in errors if one["type"] == "extra_forbidden" and one["loc"]]
    missing = without_meant(
        [str(one["loc"][-1]) for one in errors if one["type"] == "missing" and one["loc"]], unknown, ()
    )
    for one in errors:
        error_type, inner, context = one["type"], one["input"], one.get("ctx", {})
        if error_type == _SAID:
            continue
        key = str(one["loc"][-1]) if one["loc"] else ""
        if model is not None and error_type in ("missing", "extra_forbidden"):
            keys = model.allowed_keys()
            title = model.model_config.get("title")
            owner = f"this {title}" if node.key is None else f"{title} '{shown(node.key)}'"
            if error_type == "missing" and key not in missing[:1]:
                continue
            if error_type == "missing":
                message = f"{owner} has no {' and no '.join(repr(name) for name in missing)}"
            else:
                hint = near(key, (other for other in keys if other not in node))
                message = f"'{shown(key)}' is not a key of {owner}{hint}"
            problems.add(standing_at(inner), f"{message}; allowed: {', '.join(keys)}")
        elif error_type == _WRONG:
            at = node.get(context["key"], node) if isinstance(node, Mapping) else node
            problems.add(context["place"] or at.place, context["message"])
        else:
            problems.add(inner.place, _words(error_type, inner, context, model, is_key=is_key or key == "[key]"))


def _words(error_type: str, node: Node, context: dict[str, Any], model: type[Part] | None, *, is_key: bool) -> str:
    """What is wrong with one node."""
    hint = ""
    if error_type == "literal_error":
        values = _LITERAL.findall(context["expected"])
        allowed = ", ".join(values)
        hint = near(node, values) if isinstance(node, Scalar) else ""
    elif error_type == "model_type" and model is not None:
        allowed = f"a mapping of {', '.join(model.allowed_keys())}"
    else:
        allowed = context["allowed"] if error_type == _NOT_ALLOWED else _KINDS.get(error_type, error_type)
    what = "a key" if is_key else "an item" if node.key is None else f"'{shown(node.key)}'"
    return f"{what} is {found(node)}{hint}; allowed: {allowed}"


class ByKey:
    """What a union of models is annotated with, each tagged with the key that says that it is meant: a mapping has one of them."""

    def __init__(self, *keys: str) -> None:
        self.keys = keys

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        union = handler.generate_schema(Annotated[source, pydantic.Discriminator(lambda node: self._given(node)[0])])
        return core_schema.no_info_before_validator_function(self._checked, union)

    def _given(self, node: Any) -> list[str]:
        return [key for key in self.keys if key in node] if isinstance(node, Mapping) else []

    def _checked(self, node: Any) -> Any:
        given = self._given(node)
        if len(given) == 1:
            return node
        allowed = f"one of the keys {', '.join(self.keys)}"
        if not isinstance(node, Mapping) or node.key is None:
            raise not_allowed(f"a mapping with {allowed}")
        what = " and ".join(f"'{key}'" for key in given) or "none"
        raise wrong(f"'{shown(node.key)}' has {what}; allowed: {allowed}", place=standing_at(node))


class Forgiving:
    """What a value or a key is annotated with whose faults are said, so that what stands beside it can be looked at: a value is None
    then, and a key stands as it was written."""

    def __init__(self, *, is_key: bool = False) -> None:
        self.is_key = is_key

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.with_info_wrap_validator_function(self._read, handler(source))

    def _read(self, node: Any, handler: Callable[[Any], Any], info: core_schema.ValidationInfo[Any]) -> Any:
        try:
            return handler(node)
        except pydantic.ValidationError as error:
            _say(error, None, node, info.context, is_key=self.is_key)
            return node if self.is_key else None


_V = TypeVar("_V")
_K = TypeVar("_K")
Each = dict[Annotated[_K, Forgiving(is_key=True)], Annotated[_V | None, Forgiving()]]
"""A mapping whose entries are read one by one: what is wrong with one is said, and the others can be looked at."""

Json = dict[str, Any]


# Scalars are text, whatever else YAML takes an unquoted one for.
_FILLED: Json = {"type": ["string", "number", "boolean"], "pattern": r"\S"}


def _is_filled(node: Any) -> bool:
    return isinstance(node, Scalar) and bool(node.strip()) and not is_null(node)


def _text(node: Any) -> str:
    if not _is_filled(node):
        raise not_allowed("text")
    return str(node)


def _located(node: Any) -> Scalar:
    if not isinstance(node, Scalar) or not _is_filled(node):
        raise not_allowed("text")
    return node


Text = Annotated[str, pydantic.PlainValidator(_text), pydantic.WithJsonSchema(_FILLED)]
"""Text that is not empty."""

LocatedText = Annotated[Scalar, pydantic.PlainValidator(_located), pydantic.WithJsonSchema(_FILLED)]
"""The same, and it keeps its place; for keys and items."""


def _name(node: Any) -> Scalar:
    if not isinstance(node, Scalar) or not is_public_name(node):
        raise not_allowed(NAME_RULE)
    return node


NAME_RULE = "a Python name that is no keyword and no device of Windows, without a leading underscore"

# Whatever stands behind a dot, in any case, Windows takes such a file for the device.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def is_device(name: str) -> bool:
    """Whether no file can be called so on Windows, since a device is."""
    return _DEVICE.fullmatch(name) is not None


def is_public_name(name: str) -> bool:
    """Whether a method or an attribute that others use may be called so, and a file."""
    usual = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
    return usual and not is_device(name)


Name = Annotated[
    Scalar,
    pydantic.PlainValidator(_name),
    pydantic.WithJsonSchema({"type": "string", "pattern": r"^[^\W\d_]\w*$"}),
]
"""A name of Python's, as a key; it keeps its place."""


def _file_name(node: Any) -> Scalar:
    if not isinstance(node, Scalar) or not is_file_name(node):
        raise not_allowed(FILE_NAME_RULE)
    return node


FILE_NAME_RULE = f"{NAME_RULE}, in lower case"


def is_file_name(name: str) -> bool:
    """Whether it is such a name, and a file of that name another one than all others also where case does not count."""
    return is_public_name(name) and name == name.lower()


FileName = Annotated[
    Scalar,
    pydantic.PlainValidator(_file_name),
    pydantic.WithJsonSchema({"type": "string", "pattern": r"^[^\W\d_A-Z][^\WA-Z]*$"}),
]
"""A name of Python's that is the name of a file, too, as a key; it keeps its place."""


class ShortForm:
    """What a model is annotated with that may also be written as the text of one of its keys."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        allowed = f"text, or a mapping of {', '.join(source.allowed_keys())}"
        return core_schema.no_info_before_validator_function(partial(self._written_out, allowed), handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: pydantic.GetJsonSchemaHandler
    ) -> Json:
        return {"anyOf": [_FILLED, handler(schema)]}

    def _written_out(self, allowed: str, node: Any) -> Any:
        if isinstance(node, Mapping):
            return node
        if not _is_filled(node):
            raise not_allowed(allowed)
        key = Scalar(self.key)
        key.place, key.key, key.quoted = node.place, None, False
        mapping = Mapping({key: node})
        mapping.place, mapping.key = node.place, node.key
        return mapping

"""What all declared things have in common, and the checks that more than one kind needs.

Rule: a declaration is a value. Where it was declared, and through which registries it is offered, goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from mcp_contract import JsonObject, check_date, check_icons, check_meta_key, check_mime_type, check_uri
from mcp_contract.validators import describe
from mcp_contract.wording import cut
from pydantic import BaseModel, ValidationError

from mcp_anyrev.declaring.arguments import Read
from mcp_anyrev.declaring.functions import doc_of, own_name
from mcp_anyrev.declaring.signatures import Call, Signature
from mcp_anyrev.declaring.uri_templates import is_usable, normalized
from mcp_anyrev.declaring.visibility import Condition, conditions_of
from mcp_anyrev.errors import RegistrationError

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

Icons = Sequence[BaseModel | JsonObject]

_EXPRESSION = re.compile(r"\{[^{}]*\}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)


@dataclass(frozen=True)
class Declared:
    """Something that a registry offers.

    Attributes:
        key: what it is found by: a name, an address, or a template of addresses.
        description: everything that is listed of it, in canonical form.
        read: from arguments to what its function takes.
        call: from that, exchange and threads to what its function returns.
        takes_exchange: does its function, or a dependency, take the call it serves?
        asks: may they ask?
        visible: what it takes to see it; all of it.
        path: the registries that offer it; the last is the one that declared it.
        requires: the paths of the client capabilities without which it is not run.
    """

    key: str
    description: JsonObject
    read: Read
    call: Call
    takes_exchange: bool
    asks: bool
    visible: tuple[Condition, ...]
    path: tuple[Registry, ...]
    requires: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)

    @property
    def stands_alone(self) -> bool:
        """Is its function all there is to using it, with nothing around it, and no exchange to be made?"""
        around = [registry for registry in self.path if registry.hooks or registry.lifespan is not None]
        return not around and not self.takes_exchange and not self.requires and not self.answers_later

    @property
    def answers_later(self) -> bool:
        """May a request that uses it be answered later, as a task?"""
        return False

    @property
    def completed_arguments(self) -> Sequence[str]:
        """The names of its arguments whose values a client may want to have completed."""
        return ()

    def belongs_to(self, part: Declared) -> bool:
        """Is it of no use without another declaration?"""
        return False

    def within(self, registry: Registry, prefix: str, visible: tuple[Condition, ...]) -> Self:
        """The same as a registry offers it that includes the one it comes from.

        Args:
            registry: the registry that includes the other.
            prefix: what names get in front.
            visible: what it takes to see what is included.

        Raises:
            ValueError: the longer name is none.
        """
        return replace(self, path=(registry, *self.path), visible=(*visible, *self.visible))


@dataclass(frozen=True)
class Named(Declared):
    """Something whose key is its name, so that a prefix keeps it apart from others of that name."""

    def within(self, registry: Registry, prefix: str, visible: tuple[Condition, ...]) -> Self:
        """See `Declared.within`."""
        name = prefix + self.key
        try:
            check_name(name)
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from None
        renamed = replace(self, key=name, description={**self.description, "name": name})
        return super(Named, renamed).within(registry, prefix, visible)


def given(members: Mapping[str, Any]) -> JsonObject:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def plain(models: Icons) -> list[JsonObject]:
    """Canonical models or JSON objects, as JSON objects."""
    return [
        one.model_dump(mode="json", by_alias=True, exclude_unset=True) if isinstance(one, BaseModel) else one
        for one in models
    ]


def described(function: Callable[..., Any], options: Mapping[str, Any]) -> JsonObject:
    """What options and docstring say of anything that is declared: title, description, icons and `_meta`."""
    return given(
        {
            "title": options.get("title"),
            "description": options.get("description") or doc_of(function),
            "icons": plain(options.get("icons", ())) or None,
            "_meta": options.get("meta"),
        }
    )


def name_of(noun: str, function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    """The given name, or the function's.

    Args:
        noun: what is declared, for the complaint.
        function: a function, or something else that can be called.
        options: the options of the declaration.

    Raises:
        RegistrationError: there is none, or no function but something else, such as a class.
    """
    if not callable(function):
        raise RegistrationError(f"{noun}: what is declared is a function, not {function!r}")
    if isinstance(function, type):
        raise RegistrationError(
            f"{noun} {function.__name__!r}: it is a class, and what it makes is no result; declare a function"
        )
    given_name = options.get("name")
    name = own_name(function) if given_name is None else str(given_name)
    if not name:
        own = " of its own" if given_name is None else ""
        raise RegistrationError(f"{noun}: {function!r} has no name{own}; give it one with name=…")
    return name


def check_decorated(noun: str, function: Any) -> None:
    """See that a decorator without options stands on a function.

    Args:
        noun: the name of the decorator.
        function: what it was called with.

    Raises:
        RegistrationError: it was called with something else; the text says what was meant.
    """
    if function is not None and not callable(function):
        meant = f"; a name is an option: @registry.{noun}(name={function!r})" if isinstance(function, str) else ""
        raise RegistrationError(f"{noun}: {function!r} is no function{meant}")


def may_ask(signature: Signature, options: Mapping[str, Any]) -> bool:
    """May a function ask? Not where it is declared not to."""
    return signature.asks and bool(options.get("asks", True))


def requirements_of(options: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The paths of the client capabilities that something requires; what follows `extensions.` is the name of one extension."""
    paths = []
    for path in options.get("requires", ()):
        first, _, rest = path.partition(".")
        paths.append((first, rest) if first == "extensions" else tuple(path.split(".")))
    return tuple(paths)


def check_name(name: str) -> None:
    """See that a name can be used everywhere.

    Raises:
        ValueError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("a name has 1 to 128 letters, digits, underscores, dots and hyphens")


def check_address(address: str) -> None:
    """See that an address, or a template of addresses, is one.

    Raises:
        ValueError: it has no scheme, or holds what no address may hold.
    """
    if not is_usable(address):
        raise ValueError("an address has no blanks, no control characters, and is not overlong")
    try:
        scheme = urlsplit(address).scheme
    except ValueError as error:
        raise ValueError(f"it is no address: {error}") from None
    if not scheme:
        raise ValueError("an address begins with a scheme, such as file: or one of your own")
    check_uri(normalized(_EXPRESSION.sub("x", address)))


def written(address: str) -> str:
    """An address, or a template of addresses, as it is listed: what no address may hold as it is, percent-encoded."""
    pieces = _EXPRESSION.split(address)
    found = _EXPRESSION.findall(address)
    return "".join(normalized(piece) + expression for piece, expression in zip(pieces, (*found, ""), strict=True))


def check_declared_meta(meta: JsonObject) -> None:
    """See that the keys of a `_meta` can be sent on every revision.

    Raises:
        ValueError: one cannot.
    """
    for key in meta:
        check_meta_key(key)
    if meta:
        from mcp_revisions import AdapterSet

        for adapter in AdapterSet.default().by_version.values():
            for key in meta:
                if adapter.reserved_meta_key(key) or key in adapter.meta_keys:
                    raise ValueError(
                        f"the key {cut(key)!r} of the meta is reserved for the protocol on {adapter.version}"
                    )


def checked_annotations(annotations: BaseModel | JsonObject) -> JsonObject:
    """Annotations as they are listed.

    Raises:
        ValueError: they are none.
    """
    from mcp_revisions.canonical import Annotations

    try:
        model = annotations if isinstance(annotations, BaseModel) else Annotations.model_validate(annotations)
    except ValidationError as error:
        raise ValueError(f"the annotations are none: {describe(error, annotations)}") from None
    told: JsonObject = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    check_date(told)
    return told


def check_options(options: Mapping[str, Any], known: Iterable[str]) -> None:
    """See that options exist and have the shapes that all kinds share.

    Raises:
        ValueError: one does not.
    """
    known = tuple(known)
    for option in options:
        if option not in known:
            raise ValueError(f"there is no option {option!r}; options: {', '.join(known)}")
    for option in ("name", "title", "description", "mime_type"):
        if not isinstance(options.get(option, ""), str):
            raise ValueError(f"the {option} is text")
    if "mime_type" in options:
        check_mime_type(options["mime_type"])
    conditions_of(options.get("visible"))
    if not isinstance(options.get("asks", True), bool):
        raise ValueError("the option asks is true or false")
    requires = options.get("requires", ())
    if isinstance(requires, str) or not all(isinstance(path, str) and all(path.split(".")) for path in requires):
        raise ValueError('the requires are a list of client capabilities, such as ["sampling.tools"]')
    meta = options.get("meta", {})
    if not isinstance(meta, dict) or not all(isinstance(key, str) for key in meta):
        raise ValueError("the meta is an object")
    check_declared_meta(meta)
    icons = options.get("icons", ())
    if isinstance(icons, str) or not all(isinstance(icon.get("src"), str) for icon in plain(icons)):
        raise ValueError("the icons are a list of pictures, each with its address as src")
    check_icons(plain(icons))

"""What all declared things have in common, and the checks that more than one kind needs.

Rule: a declaration is a value. Where it was declared, and through which registries it is offered, goes with it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlsplit

from mcp_contract import JsonObject
from pydantic import BaseModel

from mcp_anyrev.declaring.signatures import Call, Signature
from mcp_anyrev.declaring.uri_templates import is_usable
from mcp_anyrev.errors import RegistrationError

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

Icons = Sequence[BaseModel | JsonObject]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)


@dataclass(frozen=True)
class Declared:
    """Something that a registry offers.

    Attributes:
        key: what it is found by: a name, an address, or a template of addresses.
        description: everything that is listed of it, in canonical form.
        call: from arguments, exchange and threads to what its function returns.
        takes_exchange: does its function, or a dependency, take the call it serves?
        asks: may they ask?
        path: the registries that offer it; the last is the one that declared it.
    """

    key: str
    description: JsonObject
    call: Call
    takes_exchange: bool
    asks: bool
    path: tuple[Registry, ...]


@dataclass(frozen=True)
class Named(Declared):
    """Something whose key is its name, so that a prefix keeps it apart from others of that name."""

    kind: ClassVar[str]
    """What it is, as a complaint says it."""

    def within(self, registry: Registry, prefix: str) -> Self:
        """The same as a registry offers it that includes the one it comes from.

        Raises:
            RegistrationError: the longer name is none.
        """
        name = prefix + self.key
        try:
            check_name(name)
        except ValueError as error:
            raise RegistrationError(f"{self.kind} {name!r}: {error}") from None
        return replace(self, key=name, description={**self.description, "name": name}, path=(registry, *self.path))


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
            "description": options.get("description") or inspect.getdoc(function),
            "icons": plain(options.get("icons", ())) or None,
            "_meta": options.get("meta"),
        }
    )


def name_of(function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    """The given name, or the function's."""
    return str(options.get("name") or getattr(function, "__name__", ""))


def may_ask(signature: Signature, options: Mapping[str, Any]) -> bool:
    """May a function ask? Not where it is declared not to."""
    return signature.asks and bool(options.get("asks", True))


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
    if not isinstance(options.get("asks", True), bool):
        raise ValueError("the option asks is true or false")
    meta = options.get("meta", {})
    if not isinstance(meta, dict) or not all(isinstance(key, str) for key in meta):
        raise ValueError("the meta is an object")
    icons = options.get("icons", ())
    if isinstance(icons, str) or not all(isinstance(icon.get("src"), str) for icon in plain(icons)):
        raise ValueError("the icons are a list of pictures, each with its address as src")

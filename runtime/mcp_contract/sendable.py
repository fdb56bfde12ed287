"""Single values that no schema checks, looked at before they go out: keys of `_meta`, annotations, addresses, media types, Base64.

Rule: what such a value has to be, the specification says in words, and no peer can do with another; each complaint has its place. What
holds of keys of `_meta` is another thing in each revision, and asked of it.
Specification: basic/index#_meta, server/resources#annotations, server/resources#custom-uri-schemes, server/tools#image-content
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from mcp_contract.messages import JsonObject
from mcp_contract.trace_context import check_trace_context
from mcp_contract.wording import cut

_LABEL = r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"
_META_KEY = re.compile(rf"({_LABEL}(\.{_LABEL})*/)?([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?", re.ASCII)
_ESCAPED = r"%[0-9A-Fa-f]{2}"
_PATH = rf"(?:[A-Za-z0-9._~:/@!$&'()*+,;=-]++|{_ESCAPED})*+"
_QUERY = rf"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]++|{_ESCAPED})*+"
_HOST = rf"(?:\[[0-9A-Fa-fv:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]++|{_ESCAPED})*+)"
_AUTHORITY = rf"//(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]++|{_ESCAPED})*+@)?{_HOST}(?::[0-9]*)?(?=[/?#]|$)"
_URI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{_AUTHORITY}|(?!//)){_PATH}(?:\?{_QUERY})?(?:#{_QUERY})?", re.ASCII)
_TOKEN = r"[A-Za-z0-9!#$&^_.+%'*`|~-]+"
_MIME_TYPE = re.compile(
    rf"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
    rf'([ \t]*;[ \t]*{_TOKEN}=({_TOKEN}|"([^"\\\x00-\x1f]|\\.)*"))*',
    re.ASCII,
)


_ICON_SCHEMES = ("https", "http", "data")

ANY_MESSAGE = "any message"
"""Where a key of `_meta` may stand that the protocol defines and an application may set, as `Adapter.meta_keys` says it."""


class MetaKeys(Protocol):
    """What an adapter says of keys of `_meta`."""

    @property
    def meta_keys(self) -> Mapping[str, str]:
        """The keys that the revision defines, and where they stand."""
        ...

    @property
    def meta_keys_have_form(self) -> bool:
        """Do they have a form?"""
        ...

    @property
    def trace_context_keys(self) -> Sequence[str]:
        """The keys by which traces are followed."""
        ...

    def reserved_meta_key(self, key: str) -> bool:
        """Is a key reserved for the protocol?"""
        ...


def check_meta_key(key: str) -> None:
    """See that a key of `_meta` has the form of one.

    Raises:
        ValueError: it has not.
    """
    if _META_KEY.fullmatch(key) is None:
        raise ValueError(
            f"the key {cut(key)!r} of the meta is none; one has letters and digits at both ends, between them also - _ . and may have a"
            " prefix in front, such as com.example/"
        )


def check_uri(uri: str) -> None:
    """See that a text is a URI, as RFC 3986 has it.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(uri, str) or _URI.fullmatch(uri) is None:
        raise ValueError(
            f"{_named(uri)} is no URI; one has a scheme, and what is no ASCII letter in it is percent-encoded"
        )


def check_mime_type(mime_type: str) -> None:
    """See that a text is a media type.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(mime_type, str) or _MIME_TYPE.fullmatch(mime_type) is None:
        raise ValueError(f'{_named(mime_type)} is no media type; one is such as "text/plain"')


def check_icons(icons: Iterable[JsonObject]) -> None:
    """See that the address and the media type of each icon are such, and that clients may follow the address.

    Raises:
        ValueError: they are not.
    """
    for icon in icons:
        address = icon.get("src", "")
        check_uri(address)
        if address.partition(":")[0].lower() not in _ICON_SCHEMES:
            raise ValueError(f"{_named(address)} is no address of an icon; those begin with https:, http: or data:")
        _check_given(icon)


def check_date(annotations: JsonObject) -> None:
    """See that annotations have a time, if any, as ISO 8601 writes it.

    Raises:
        ValueError: they have not.
    """
    date = annotations.get("lastModified")
    if date is None:
        return
    try:
        datetime.fromisoformat(date)
    except (TypeError, ValueError):
        raise ValueError(f"{_named(date)} is no time as ISO 8601 writes it") from None


def check_result(result: JsonObject, keys: MetaKeys) -> None:
    """See that what a handler gave, and what stands around it made of that, can be sent.

    Args:
        result: the result in canonical form.
        keys: what the revision says of keys of `_meta`.

    Raises:
        ValueError: it cannot; the text names the place.
    """
    if "_meta" in result:
        _check_meta(result, keys)
    for member in ("content", "contents", "messages"):
        parts = result.get(member)
        if isinstance(parts, list):
            for place, part in enumerate(parts):
                if isinstance(part, dict) and (len(part) > 2 or "text" not in part):
                    try:
                        _check_part(part, keys)
                    except ValueError as error:
                        raise ValueError(f"{member} {place}: {error}") from None


def check_content(blocks: Any) -> None:
    """See that the content of a message of our own, one block or several, can be sent.

    Raises:
        ValueError: it cannot.
    """
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if isinstance(block, dict):
            _check_part(block, None)


def _check_part(part: JsonObject, keys: MetaKeys | None) -> None:
    """See that a block of content, the contents of a resource, or a message can be sent, with what is in it."""
    if "_meta" in part:
        _check_meta(part, keys)
    kind = part.get("type")
    for encoded in ("blob",) if kind is None else ("data",) if kind in ("image", "audio") else ():
        if encoded in part:
            _check_base64(part[encoded])
    if "uri" in part:
        check_uri(part["uri"])
    _check_given(part)
    annotations = part.get("annotations")
    if isinstance(annotations, dict):
        check_date(annotations)
    if kind == "resource_link":
        check_icons(part.get("icons", ()))
    for inner in ("resource", "content"):
        parts = part.get(inner)
        for one in parts if isinstance(parts, list) else [parts]:
            if isinstance(one, dict):
                _check_part(one, keys)


def _check_meta(part: JsonObject, keys: MetaKeys | None) -> None:
    meta = part["_meta"]
    if not isinstance(meta, dict):
        return
    for key in meta:
        if keys is None or keys.meta_keys_have_form:
            check_meta_key(key)
        if keys is not None and (keys.reserved_meta_key(key) or keys.meta_keys.get(key, ANY_MESSAGE) != ANY_MESSAGE):
            raise ValueError(f"the key {cut(key)!r} of the meta is reserved for the protocol")
        if keys is not None and key in keys.trace_context_keys:
            check_trace_context(key, meta[key])


def _check_given(part: JsonObject) -> None:
    mime_type = part.get("mimeType")
    if mime_type is not None:
        check_mime_type(mime_type)


def _check_base64(text: Any) -> None:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the bytes are not in Base64: {error}") from None


def _named(value: Any) -> str:
    return cut(repr(value), 100)

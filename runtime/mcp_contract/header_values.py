"""Values in HTTP header fields: plain where they are safe, else in a Base64 form that names itself.

Rule: encoding is total (any text that UTF-8 can carry has a form) and decoding undoes it exactly; what claims the Base64 form and is none is refused.
Specification: basic/transports/streamable-http#value-encoding
"""

from __future__ import annotations

import base64
import binascii
import re

_SAFE = re.compile(r"[\t\x20-\x7e]*", re.ASCII)
_PREFIX = "=?base64?"
_SUFFIX = "?="


def encode_header_value(value: str) -> str:
    """Text → a header value.

    Args:
        value: any text.

    Returns:
        The text itself where it is printable ASCII without outer blanks and does not look encoded; else its Base64 form.

    Raises:
        ValueError: the text holds half of a surrogate pair, which UTF-8 cannot carry.
    """
    plain = all("\x20" <= letter <= "\x7e" for letter in value) and value == value.strip(" ")
    if plain and not _looks_encoded(value):
        return value
    return _PREFIX + base64.b64encode(value.encode("utf-8")).decode("ascii") + _SUFFIX


def decode_header_value(value: str) -> str:
    """A header value → the text it stands for.

    Args:
        value: the field's value; blanks around it do not count.

    Raises:
        ValueError: the value claims the Base64 form but is not valid Base64 of UTF-8, or has letters that no plain value has.
    """
    value = value.strip(" \t")
    if not value.startswith(_PREFIX) or not _looks_encoded(value):
        if _SAFE.fullmatch(value) is None:
            raise ValueError("letters that are not printable ASCII travel in the Base64 form only")
        return value
    try:
        return base64.b64decode(value[len(_PREFIX) : -len(_SUFFIX)], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("not valid Base64 of UTF-8 text") from error


def _looks_encoded(value: str) -> bool:
    return value.startswith(_PREFIX) and value.endswith(_SUFFIX) and len(value) >= len(_PREFIX) + len(_SUFFIX)

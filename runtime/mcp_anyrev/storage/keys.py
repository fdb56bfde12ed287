"""Under what something is kept: what it is, and a name that nobody can guess.

Rule: what came from outside becomes a key here or not at all, so that no store and no hub ever sees a name of another shape or size.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import lru_cache
from typing import NewType

Key = NewType("Key", str)
"""`kind/name`: lower-case letters, a slash, and up to 128 of `[0-9A-Za-z_-]`."""

_NAME = re.compile(r"[0-9A-Za-z_-]{1,128}", re.ASCII)


@lru_cache(maxsize=4_096)  # a session in use is looked up with every request
def key(kind: str, name: str) -> Key:
    """The key of something that has a name.

    Args:
        kind: what it is, in one word, such as `session`.
        name: its name, from anywhere.

    Raises:
        ValueError: it is no name that `new_name` or `name_of` could have given, so there is nothing under it.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError("a name is up to 128 letters, digits, '_' and '-'")
    return Key(f"{kind}/{name}")


def new_name() -> str:
    """A name that nobody can guess, and that is not given out a second time: 32 characters."""
    return secrets.token_urlsafe(24)


def name_of(text: str) -> str:
    """The name that stands for a text of any length and letters, always the same for the same one."""
    return hashlib.sha256(text.encode()).hexdigest()

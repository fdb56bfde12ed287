"""The URL of a store: where it is, and with which credentials.

Rule: the credentials in it are for whoever connects. What is shown of it, in a log, an error or a representation, has none of them, also
where it is no proper URL.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HIDDEN = "***"
_SHORTEST_SECRET = 3
"""What is shorter stands in any text by chance, and hiding it there would give it away."""


class StorageUrl:
    """Where a store and a hub are.

    Args:
        text: the URL.

    Raises:
        ValueError: it begins with no scheme.

    Attributes:
        text: the URL, with its credentials.
        scheme: what stands before the colon, in lower case.
        shown: the URL without its credentials and options.
    """

    __slots__ = ("scheme", "shown", "text")

    def __init__(self, text: str) -> None:
        scheme = _SCHEME.match(text)
        if scheme is None:
            raise ValueError("a store is named by a URL, which begins with a scheme and a colon")
        self.text = text
        self.scheme = scheme[1].lower()
        self.shown = _shown(self.scheme, text[scheme.end() :])

    def __repr__(self) -> str:
        return f"StorageUrl({self.shown!r})"

    def hide(self, words: str) -> str:
        """What somebody else has said about it, without its credentials."""
        words = words.replace(self.text, self.shown)
        for secret in sorted(self._secrets(), key=len, reverse=True):
            words = words.replace(secret, _HIDDEN)
        return words

    def _secrets(self) -> set[str]:
        """What may not be shown, as it stands in the URL and as it is meant."""
        try:
            parts = urlsplit(self.text)
            written = {parts.password or "", *(value for _, value in parse_qsl(parts.query) if not value.isdecimal())}
        except ValueError:
            return set()
        return {each for one in written for each in (one, unquote(one)) if len(each) >= _SHORTEST_SECRET}


def _shown(scheme: str, rest: str) -> str:
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    before, at, place = rest[len(slashes) :].rpartition("@")
    if re.search(r"[?#]", before):  # a password that is not quoted, or an option with an @: who can tell?
        return f"{scheme}:{slashes}{_HIDDEN}"
    place = re.split(r"[?#]", place)[0]
    return f"{scheme}:{slashes}{_HIDDEN + at if at else ''}{place}"

"""Wrapping: text in lines of a width.

Rule: words stay whole, since names and addresses are to be found and copied.
"""

from __future__ import annotations

import textwrap


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, none longer than `width` columns unless a word is; no line for no text."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)

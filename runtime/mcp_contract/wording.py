"""Words about what a peer sent, short whatever it was.

Rule: every text that quotes a peer is cut here and nowhere else, and can be written as UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_WORDS = 1_000
"""The most characters of one complaint."""

LONGEST_ADDRESS = 2_048
"""The most characters of an address; a longer one is none."""

_LONGEST_STEP = 80


def cut(text: str, most: int = LONGEST_WORDS) -> str:
    """A text that is not longer than allowed: what stands in the middle goes, since both ends say something.

    Args:
        text: any text, also one that cannot be written as UTF-8.
        most: how many characters may stay.
    """
    if len(text) > most:
        end = most // 3
        text = f"{text[: most - end - 1]}…{text[-end:]}"
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def pointer(steps: Iterable[str | int]) -> str:
    """A JSON pointer, each step of it cut; `/` for the value itself, which has no name.

    Args:
        steps: names of members and places in arrays.
    """
    names = (cut(str(step).replace("~", "~0").replace("/", "~1"), _LONGEST_STEP) for step in steps)
    return "/" + "/".join(names)

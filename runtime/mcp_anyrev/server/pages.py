"""A list in pages.

Rule: pages and cursors follow from the list alone, so every worker has the same ones; a cursor tells the place and what stands
before it, so one that a change of the list has made wrong is refused and does not skip anything.
Specification: server/utilities/pagination#pagination-model
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mcp_contract import InvalidParams, JsonObject


class Page(NamedTuple):
    """A page of a list.

    Attributes:
        items: what is in it.
        following: the cursor of the next one; None for the last.
    """

    items: Sequence[JsonObject]
    following: str | None


class Pages:
    """The pages of a list.

    Args:
        listed: what is listed, by what each item is found by, in its order.
        size: the most items in one page.
    """

    def __init__(self, listed: Mapping[str, JsonObject], size: int) -> None:
        items, keys = list(listed.values()), list(listed)
        starts = range(0, len(items), size) or (0,)
        cursors = [None if start == 0 else _cursor(start, keys[:start]) for start in starts]
        self._pages = {
            cursor: Page(items[start : start + size], following)
            for cursor, start, following in zip(cursors, starts, [*cursors[1:], None], strict=True)
        }

    def page(self, cursor: str | None) -> Page:
        """The page at a cursor, the first one without.

        Raises:
            InvalidParams: it is no cursor of this list as it is now.
        """
        page = self._pages.get(cursor)
        if page is None:
            raise InvalidParams("the cursor is none of this list as it is now; start again without one")
        return page


def _cursor(start: int, before: Sequence[str]) -> str:
    told = hashlib.sha256("\n".join(before).encode()).digest()[:9]
    return base64.urlsafe_b64encode(start.to_bytes(4) + told).decode().rstrip("=")

"""A list in pages.

Rule: pages and cursors follow from the list alone, so every worker has the same ones; a cursor tells the place and what stands
before it, so one that a change of the list has made wrong is refused and does not skip anything.
Specification: server/utilities/pagination#pagination-model
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence

from mcp_contract import InvalidParams, JsonObject


class Pages:
    """The finished pages of a list.

    Args:
        items: what is listed, in its order.
        keys: what each item is found by.
        size: the most items in one page.
        finish: from the items of a page and the cursor of the next one, if there is one, to the result as JSON.
    """

    def __init__(
        self,
        items: Sequence[JsonObject],
        keys: Sequence[str],
        size: int,
        finish: Callable[[Sequence[JsonObject], str | None], bytes],
    ) -> None:
        starts = range(0, len(items), size) or (0,)
        cursors = [None if start == 0 else _cursor(start, keys[:start]) for start in starts]
        self._pages: dict[str | None, bytes] = {
            cursor: finish(items[start : start + size], following)
            for cursor, start, following in zip(cursors, starts, [*cursors[1:], None], strict=True)
        }

    def page(self, cursor: str | None) -> bytes:
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

"""Lists of a server, page by page.

Rule: a list ends, whatever the server says: a cursor that came before, or too many pages, is an error. An item that has another form than
the protocol gives it is left out, with a line in the log, and does not spoil the others.
Specification: server/utilities/pagination#pagination-model
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_contract import JsonObject
from pydantic import BaseModel

from mcp_anyrev.client.errors import WrongAnswer
from mcp_anyrev.client.reading import read

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

log = logging.getLogger("mcp_anyrev.client")

Model = TypeVar("Model", bound=BaseModel)

Ask = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""From a method and params to the result, as it came."""

_MOST_PAGES = 10_000


async def listed(ask: Ask, adapter: Adapter, method: str, list_member: str) -> list[Any]:
    """All items of a list, as they came.

    Args:
        ask: sends a request.
        adapter: the revision.
        method: the method of the list.
        list_member: the member of the result that holds the items.

    Raises:
        WrongAnswer: it is no list, or has no end.
    """
    items: list[Any] = []
    seen: set[str] = set()
    params: JsonObject = {}
    for _ in range(_MOST_PAGES):
        result = await ask(method, params)
        page, cursor = result.get(list_member), result.get("nextCursor")
        if not isinstance(page, list):
            raise WrongAnswer(f"{method}: {list_member} is no list")
        items += page
        if cursor is None or (cursor == "" and adapter.empty_cursor_ends):
            return items
        if not isinstance(cursor, str):
            raise WrongAnswer(f"{method}: the cursor of the next page is no text")
        if cursor in seen:
            raise WrongAnswer(f"{method}: the list has no end, since the same cursor came twice")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise WrongAnswer(f"{method}: the list has no end within {_MOST_PAGES} pages")


def readable(model: type[Model], items: list[Any], method: str) -> list[Model]:
    """The items that have the form that the protocol gives them, in order."""
    found = []
    for place, item in enumerate(items):
        try:
            found.append(read(model, item, f"{method}: item {place}"))
        except WrongAnswer as reason:
            log.warning("%s; it is left out", reason)
    return found

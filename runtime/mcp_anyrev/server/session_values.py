"""What handlers keep from one call of a session to the next.

Rule: in the session store, so any worker has it; a session's own, and so its principal's own. Values are JSON.
Specification: basic/transports#session-management
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject
from pydantic_core import from_json, to_json

from mcp_anyrev.exchange import SessionValues

if TYPE_CHECKING:
    from mcp_anyrev.conversation.sessions import Session


class ValuesOfSession(SessionValues):
    """See `SessionValues`.

    Args:
        session: the session.
    """

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get(self, name: str, default: Json = None) -> Json:
        """See `SessionValues.get`."""
        session = await self._session.now()
        return default if session is None else session.values.get(name, default)

    async def set(self, name: str, value: Json) -> None:
        """See `SessionValues.set`."""
        plain = from_json(to_json(value))
        await self._change(lambda values: {**values, name: plain})

    async def update(self, name: str, change: Callable[[Json], Json], default: Json = None) -> Json:
        """See `SessionValues.update`."""
        made: Json = None

        def changed(values: JsonObject) -> JsonObject:
            nonlocal made
            made = from_json(to_json(change(values.get(name, default))))
            return {**values, name: made}

        await self._change(changed)
        return made

    async def delete(self, name: str) -> None:
        """See `SessionValues.delete`."""
        await self._change(lambda values: {key: value for key, value in values.items() if key != name})

    async def _change(self, change: Callable[[JsonObject], JsonObject]) -> None:
        await self._session.change(lambda session: {"values": change(session.values)})

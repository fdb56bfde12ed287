"""Results that may be used again for a while.

Rule: as long as the server says and no longer, and not once it says that they have changed. What took an answer of a person is not
kept. Nothing is fetched before somebody asks for it.
Specification: server/utilities/caching
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from cachetools import TLRUCache
from mcp_contract import Json, JsonObject, member
from pydantic_core import to_json

_CHANGED: Mapping[str, tuple[str, ...]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
"""Which requests have another result once a notification has come."""

_UPDATED, _READ = "notifications/resources/updated", "resources/read"
_MOST_SECONDS = 24 * 3600.0

Key = tuple[str, bytes]


class KeptResults:
    """Results of one server, for one client.

    Args:
        most_bytes: how many bytes they may have together; the least recently used go first.
        clock: seconds, as they pass.
    """

    def __init__(self, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TLRUCache[Key, tuple[float, bytes, JsonObject]] = TLRUCache(
            most_bytes, ttu=_until, timer=clock, getsizeof=_size
        )

    def find(self, method: str, params: JsonObject) -> JsonObject | None:
        """The result of a request; None where there is none that may be used."""
        kept = self._kept.get(_key(method, params))
        return None if kept is None else kept[2]

    def keep(self, method: str, params: JsonObject, result: JsonObject) -> None:
        """Keep a result for as long as it says."""
        lifetime = result.get("ttlMs")
        if isinstance(lifetime, bool) or not isinstance(lifetime, int | float) or not lifetime > 0:
            return
        key, written = _key(method, params), to_json(result)
        if len(written) <= self._kept.maxsize:
            self._kept[key] = min(lifetime / 1000, _MOST_SECONDS), written, result

    def heard(self, method: str, message: JsonObject) -> None:
        """Let go what has changed, as a notification says."""
        methods = _CHANGED.get(method, ())
        uri: Json = member(message, "params", "uri") if method == _UPDATED else None
        read = None if uri is None else _key(_READ, {"uri": uri})
        for key in list(self._kept):
            if key[0] in methods or key == read:
                self._kept.pop(key, None)

    def clear(self) -> None:
        """Keep nothing any longer."""
        self._kept.clear()


def _key(method: str, params: JsonObject) -> Key:
    return method, to_json(dict(sorted(params.items())))


def _until(key: Key, kept: tuple[float, bytes, JsonObject], now: float) -> float:
    return now + kept[0]


def _size(kept: tuple[float, bytes, JsonObject]) -> int:
    return len(kept[1])

"""How much a store and a hub may keep.

Rule: every backend is given these and keeps to them, so that it makes no difference which one it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_anyrev.storage.protocols import IN_USE_SECONDS


@dataclass(frozen=True, kw_only=True)
class StoreBounds:
    """What a session store keeps; see `SessionStore` for what goes first.

    Attributes:
        total_bytes: the most of all owners.
        owner_bytes: the most of one.
        in_use_seconds: for how long after its last use a value does not go to make room.
    """

    total_bytes: int = 64 * 1024 * 1024
    owner_bytes: int = 16 * 1024 * 1024
    in_use_seconds: float = IN_USE_SECONDS


@dataclass(frozen=True, kw_only=True)
class HubBounds:
    """What a hub keeps; see `Hub` for what goes first.

    Attributes:
        topic_messages: the most messages of a topic.
        topic_bytes: the most bytes of them.
        seconds: for how long they are kept, and an unused topic is.
        total_bytes: the most of all owners.
        owner_bytes: the most of one.
    """

    topic_messages: int = 4_096
    topic_bytes: int = 16 * 1024 * 1024
    seconds: float = 300
    total_bytes: int = 128 * 1024 * 1024
    owner_bytes: int = 32 * 1024 * 1024

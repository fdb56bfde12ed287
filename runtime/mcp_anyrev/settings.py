"""How a server is run, as against what it offers.

Rule: everything here has a default that is safe on a developer's machine; nothing here belongs to a registry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.server.wire import Head
    from mcp_anyrev.storage import Hub, SessionStore

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names under which a machine reaches itself."""


@dataclass(frozen=True)
class Limits:
    """What one client may use up.

    Attributes:
        body_bytes: the largest body that is read.
        batch_messages: the most messages in one frame, where a frame may hold several.
        sessions: the most sessions, and unfinished questions, that the store in memory keeps; the longest unused go first.
    """

    body_bytes: int = 4 * 1024 * 1024
    batch_messages: int = 100
    sessions: int = 10_000


@dataclass(frozen=True)
class Settings:
    """How a server is run.

    Attributes:
        revisions: the revisions that are served; None for all.
        store: where sessions and unfinished questions are kept; None for this process's memory.
        hub: how an answer finds the worker that waits for it; None for this process's memory.
        keys: secrets that seal what travels through a client. The first seals, all of them open. Without any, a secret is
            made for this process, so a round trip cannot end on another.
        ask_timeout_seconds: how long a pushed question waits for its answer.
        state_ttl_seconds: how long an unfinished call can be finished.
        session_ttl_seconds: how long an unused session is kept.
        head_delay_seconds: how long a reply waits to see whether it is a single answer, before it becomes a stream.
        keep_alive_seconds: after how much silence a stream carries a comment.
        allowed_hosts: the names (`name` for any port, `name:port`) that the `Host` header may give; `*` for any.
        allowed_origins: the names, or whole origins (`https://name:port`), that a present `Origin` header may give; `*` for any.
        limits: what one client may use up.
        principal: from the head of a request to the name of who sent it, None for nobody in particular.
    """

    revisions: Sequence[str] | None = None
    store: SessionStore | None = None
    hub: Hub | None = None
    keys: Sequence[bytes] = ()
    ask_timeout_seconds: float = 120
    state_ttl_seconds: float = 600
    session_ttl_seconds: float = 3600
    head_delay_seconds: float = 2
    keep_alive_seconds: float = 15
    allowed_hosts: Sequence[str] = LOOPBACK
    allowed_origins: Sequence[str] = LOOPBACK
    limits: Limits = field(default_factory=Limits)
    principal: Callable[[Head], str | Awaitable[str | None] | None] | None = None

"""How a server is run, as against what it offers.

Rule: everything here has a default that is safe on a developer's machine; nothing here belongs to a registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.http.protected_resource import ProtectedResource
    from mcp_anyrev.principal import Recognise
    from mcp_anyrev.storage import Hub, SessionStore

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names under which a machine reaches itself."""


@dataclass(frozen=True)
class Limits:
    """What one client may use up.

    Attributes:
        body_bytes: the largest body that is read.
        body_seconds: how long the body of a request may take to arrive.
        call_seconds: how long a call may go on, whatever it waits for.
        batch_messages: the most messages in one frame, where a frame may hold several.
        sessions: the most sessions, and unfinished questions, that the store in memory keeps; the longest unused go first.
        streams_of_session: the most streams of one session that are open or can be taken up again; the oldest go first.
        streams_of_principal: the most long-lived streams that one principal holds; further ones are refused.
        subscriptions: the most resources that one session, or one stream of changes, subscribes to.
        queue: the most messages that wait for a slow reader; a handler that has more to say waits.
        calls_of_connection: the most calls that go on at once on one connection of HTTP+SSE.
        threads: the most threads in which handlers and dependencies run that are not async.
        kept_streams: the most streams that are kept in memory to be taken up again.
        kept_events: the most events of each that are kept.
        kept_bytes: the most bytes of all.
    """

    body_bytes: int = 4 * 1024 * 1024
    body_seconds: float = 30
    call_seconds: float = 3600
    batch_messages: int = 100
    sessions: int = 10_000
    streams_of_session: int = 32
    streams_of_principal: int = 10_000
    subscriptions: int = 1_000
    queue: int = 1_000
    calls_of_connection: int = 256
    threads: int = 40
    kept_streams: int = 2_000
    kept_events: int = 256
    kept_bytes: int = 16 * 1024 * 1024


CHANGES = ("tools", "prompts", "resources", "updates")
"""What a server can announce changes of: its three lists, and the contents of single resources."""


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
        retry_seconds: after how long a client comes back to a stream that ended early, where the revision lets a server say so.
        kept_seconds: how long a stream can be taken up again after its last event.
        shutdown_seconds: how long calls may go on once the server has been told to stop.
        listen: may clients hold streams open to be told of changes?
        allowed_hosts: the names (`name` for any port, `name:port`) that the `Host` header may give; `*` for any.
        allowed_origins: the names, or whole origins (`https://name:port`), that a present `Origin` header may give; `*` for any.
        announce: which changes clients are told of, some of `CHANGES`: of the lists of tools, prompts and resources, and of the
            contents of single resources.
        page_size: the most things in one page of a list.
        limits: what one client may use up.
        principal: from the head of a request to who sent it, a `Principal` or only a name; None for nobody in particular. It may be
            async. It refuses by raising `Unauthorized` or `Forbidden`; see `BearerVerifier` for a ready one.
        protected_resource: what is told of who gives out tokens for this server, at its well-known address.

    Raises:
        ValueError: `announce` names something else, or a page is to hold nothing.
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
    retry_seconds: float = 1
    kept_seconds: float = 300
    shutdown_seconds: float = 2
    listen: bool = True
    allowed_hosts: Sequence[str] = LOOPBACK
    allowed_origins: Sequence[str] = LOOPBACK
    announce: Sequence[str] = CHANGES
    page_size: int = 250
    limits: Limits = field(default_factory=Limits)
    principal: Recognise | None = None
    protected_resource: ProtectedResource | None = None

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.announce if kind not in CHANGES]
        if isinstance(self.announce, str) or unknown:
            raise ValueError(f"announce has {unknown or self.announce!r}; changes are {', '.join(CHANGES)}")
        if self.page_size < 1:
            raise ValueError(f"page_size is {self.page_size}; a page holds at least one thing")

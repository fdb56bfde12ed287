"""How a server is run, as against what it offers.

Rule: everything here has a default that is safe on a developer's machine; nothing here belongs to a registry. What cannot work is
refused where it is made, all of it at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator
from pydantic.dataclasses import dataclass

from mcp_anyrev.principal import Recognise
from mcp_anyrev.protected_resource import ProtectedResource
from mcp_anyrev.storage.backends import known_url
from mcp_anyrev.storage.protocols import Hub, SessionStore

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names under which a machine reaches itself."""

_SHORTEST_KEY_BYTES = 16
_AUTHORITY = r"(\[[0-9A-Fa-f:.]+\]|[^\s/:@\[\]?#]+)(:\d{1,5})?"
_HOST = re.compile(rf"\*|{_AUTHORITY}")
_ORIGIN = re.compile(rf"\*|([A-Za-z][A-Za-z0-9+.-]*://)?{_AUTHORITY}")


def _shaped(pattern: re.Pattern[str], words: str) -> AfterValidator:
    def check(value: str) -> str:
        if pattern.fullmatch(value) is None:
            raise ValueError(f"{value!r} is not {words}")
        return value

    return AfterValidator(check)


def _url_or(kind: type, words: str) -> PlainValidator:
    def check(value: object) -> object:
        if isinstance(value, str):
            return known_url(value)
        if value is None or isinstance(value, kind):
            return value
        raise ValueError(f"it is neither the URL of a store nor {words}")

    return PlainValidator(check)


def _known(revisions: Sequence[str] | None) -> Sequence[str] | None:
    from mcp_revisions import AdapterSet

    if revisions is not None:
        AdapterSet(revisions)
    return revisions


Count = Annotated[int, Field(gt=0)]
"""How many, or how many bytes: at least one."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""How long; longer than nothing."""

Delay = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""How long; it may be no time at all."""

Host = Annotated[str, _shaped(_HOST, "`*`, `name` or `name:port`, without a scheme and a path")]
Origin = Annotated[str, _shaped(_ORIGIN, "`*`, `name`, `name:port` or `scheme://name:port`, without a path")]
Secret = Annotated[bytes, Field(min_length=_SHORTEST_KEY_BYTES)]

Announced = Literal["tools", "prompts", "resources", "updates"]
"""What a server can announce changes of: its three lists, and the contents of single resources."""

Schemas = Literal["plain", "declared"]
"""How input schemas of tools are sent: without references and composition wherever anything is simplified, or as they are."""

SCHEMAS: tuple[Schemas, ...] = ("plain", "declared")

CHANGES: tuple[Announced, ...] = ("tools", "prompts", "resources", "updates")

_CHECKED = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True)


@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class Limits:
    """What one client may use up, and all of them together.

    Attributes:
        body_bytes: the largest body that is read.
        values: the most values, members and items at any depth, that one body holds. What a body costs depends on them more than on
            its bytes; a list of a thousand rows of fifty members has 51,000.
        line_bytes: the longest line that is read where a message is a line; a longer one is left out.
        nesting: the most objects and arrays within each other in the arguments of a call, the arguments themselves among them.
        body_seconds: how long the body of a request may take to arrive.
        bodies_of_address: the most bodies that are arriving from one network address at once; further ones are refused. Those that have
            come as soon as their heads are looked at do not count.
        arriving_bytes_of_address: the most bytes that have come of these. One that is no larger than an equal share of this goes on
            arriving when others of its address are too large.
        arriving_bytes: the most bytes that have come of all bodies that are arriving.
        call_seconds: how long a call may go on, whatever it waits for.
        batch_messages: the most messages in one frame, where a frame may hold several.
        session_bytes: the most that is kept of one session beside what handlers keep in it: what the client declared of itself, of which
            no more than half of this is kept, and what it sets. So many letters the addresses in one stream of changes may have, too.
        streams_of_session: the most streams that one session listens on; the oldest end first.
        streams_of_principal: the most long-lived streams that one principal holds; further ones are refused.
        subscriptions: the most resources that one session, or one stream of changes, subscribes to.
        queue: the most messages that wait for a slow reader; a handler that has more to say waits.
        queue_bytes: the most bytes of those. What must arrive may take up as much besides; more ends the stream.
        queue_bytes_of_all: the most bytes that wait for all slow readers together, those that are going out among them. Once it is that
            much, a handler waits whose reader has anything left to read, and who takes nothing at all for two seconds loses its connection.
        calls_of_principal: the most calls of one client that wait for something at once; further ones are refused. Streams do not count.
        call_bytes_of_principal: the most bytes that the requests of these have. One that is no larger than an equal share of this finds
            room when others of its sender are too large.
        call_bytes: the most bytes that the requests of all waiting calls have.
        calls_of_connection: the most calls that go on at once on one connection of HTTP+SSE.
        calls_per_minute: the most calls of one client in a minute, of tools, prompts, resources and completions together; one that has
            been silent may send so many at once. Further ones are refused, with the time after which to call again. None for any number.
        tasks_of_principal: the most tasks of one client that are at work at once; further ones are refused.
        threads: the most threads in which handlers and dependencies run that are not async.
        stored_bytes: the most that is kept of all sessions and unfinished calls; see `SessionStore` for what goes first.
        stored_bytes_of_principal: the most of those of one principal.
        kept_bytes: the most that is kept in memory of all streams, so that they can be taken up again; see `Hub` for what goes first.
        kept_bytes_of_principal: the most of those of one principal.

    Raises:
        ValueError: a number is not one, or not above zero. It names every one.
    """

    body_bytes: Count = 4 * 1024 * 1024
    values: Count = 100_000
    line_bytes: Count = 16 * 1024 * 1024
    nesting: Count = 32
    body_seconds: Seconds = 30
    bodies_of_address: Count = 1_000
    arriving_bytes_of_address: Count = 16 * 1024 * 1024
    arriving_bytes: Count = 64 * 1024 * 1024
    call_seconds: Seconds = 3600
    batch_messages: Count = 100
    session_bytes: Count = 64 * 1024
    streams_of_session: Count = 32
    streams_of_principal: Count = 10_000
    subscriptions: Count = 1_000
    queue: Count = 1_000
    queue_bytes: Count = 4 * 1024 * 1024
    queue_bytes_of_all: Count = 32 * 1024 * 1024
    calls_of_principal: Count = 1_000
    call_bytes_of_principal: Count = 16 * 1024 * 1024
    call_bytes: Count = 64 * 1024 * 1024
    calls_of_connection: Count = 256
    calls_per_minute: Count | None = 60_000
    tasks_of_principal: Count = 100
    threads: Count = 40
    stored_bytes: Count = 64 * 1024 * 1024
    stored_bytes_of_principal: Count = 16 * 1024 * 1024
    kept_bytes: Count = 128 * 1024 * 1024
    kept_bytes_of_principal: Count = 32 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class Settings:
    """How a server is run.

    Attributes:
        revisions: the revisions that are served; None for all.
        store: where sessions and unfinished questions are kept: the URL of a system that several processes can share, whose schemes
            are in `mcp_anyrev.storage.backends.SCHEMES`, or a session store; None for this process's memory.
        hub: how an answer finds the worker that waits for it: a URL, or a hub; None for where `store` is, if that is a URL, and
            this process's memory if it is not.
        keys: secrets, each of at least 16 bytes, that seal what travels through a client. The first seals, all of them open. Without any,
            a secret is made for this process, so a round trip cannot end on another.
        ask_timeout_seconds: how long a pushed question waits for its answer.
        state_ttl_seconds: how long an unfinished call can be finished.
        session_ttl_seconds: how long an unused session is kept.
        task_seconds: how long a call may go on that has become a task, and its result is kept, from its beginning; a client may ask for less.
        task_poll_seconds: how long a client is told to wait between two looks at a task.
        head_delay_seconds: how long a reply waits to see whether it is a single answer, before it becomes a stream.
        keep_alive_seconds: after how much silence a stream carries a comment.
        ping_seconds: after how much silence on a stream of a session its client is asked by a ping, where the revision has that, whether it
            is still there; None for never.
        ping_timeout_seconds: how long it may take to answer one; after that the stream is ended.
        retry_seconds: after how long a client comes back to a stream that ended early, where the revision lets a server say so.
        kept_seconds: how long a stream can be taken up again after its last event.
        shutdown_seconds: how long calls may go on once the server has been told to stop.
        listen: may clients hold streams open to be told of changes?
        allowed_hosts: the names (`name` for any port, `name:port`) that the `Host` header may give; `*` for any.
        allowed_origins: the names, or whole origins (`https://name:port`), that a present `Origin` header may give; `*` for any.
        announce: which changes clients are told of, some of `CHANGES`: of the lists of tools, prompts and resources, and of the
            contents of single resources. Changes that an extension brings are told besides.
        schemas: how input schemas are sent of tools and registries that do not say it themselves: `declared` as they are, also where
            clients may not read them, `plain` without references and composition also where a revision could have them; None for
            what each revision says.
        page_size: the most things in one page of a list.
        limits: what one client may use up.
        principal: from the head of a request to who sent it, a `Principal` or only a name; None for nobody in particular. It may be
            async; if it is not, it runs in a thread. It refuses by raising `Unauthorized` or `Forbidden`; see `BearerVerifier` for a ready one.
        protected_resource: what is told of who gives out tokens for this server, at its well-known address.

    Raises:
        ValueError: something cannot work. It names every member that cannot, and what was allowed.
    """

    revisions: Annotated[Sequence[str] | None, AfterValidator(_known)] = None
    store: Annotated[str | SessionStore | None, _url_or(SessionStore, "a session store")] = field(
        default=None, repr=False
    )
    hub: Annotated[str | Hub | None, _url_or(Hub, "a hub")] = field(default=None, repr=False)
    keys: Sequence[Secret] = field(default=(), repr=False)
    ask_timeout_seconds: Seconds = 120
    state_ttl_seconds: Seconds = 600
    session_ttl_seconds: Seconds = 3600
    task_seconds: Seconds = 3600
    task_poll_seconds: Seconds = 1
    head_delay_seconds: Delay = 2
    keep_alive_seconds: Seconds = 15
    ping_seconds: Seconds | None = 60
    ping_timeout_seconds: Seconds = 30
    retry_seconds: Delay = 1
    kept_seconds: Seconds = 300
    shutdown_seconds: Delay = 2
    listen: bool = True
    allowed_hosts: Sequence[Host] = LOOPBACK
    allowed_origins: Sequence[Origin] = LOOPBACK
    announce: Sequence[Announced] = CHANGES
    schemas: Schemas | None = None
    page_size: Count = 250
    limits: Limits = field(default_factory=Limits)
    principal: Recognise | None = None
    protected_resource: ProtectedResource | None = None

"""What workers of one server share: values under keys, and messages on topics.

Rule: small enough that a database, a broker or this process can be either. Both deal in bytes and know nothing of what is in them, so
that what they keep is measured exactly; both are bounded, in all and for each owner, and nobody has to ask again and again whether
something has happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from mcp_anyrev.storage.keys import Key

IN_USE_SECONDS = 60.0
"""For how long after it was touched or replaced a value of a session store is in use."""


class Stored(NamedTuple):
    """What a store has under a key.

    Attributes:
        value: what was put.
        version: another one after each change of the value, and never the same again; visible ASCII, at most 64 characters.
        seconds: for how many more seconds it is kept.
    """

    value: bytes
    version: str
    seconds: float


@runtime_checkable
class SessionStore(Protocol):
    """Values, each for a limited time.

    Every value counts against the budget of an owner, and against that of all. Where one is used up, room is made: first by what was
    put once and never touched or replaced since, the oldest first; then by what was touched or replaced longest ago. Where it is the
    budget of all, the values of the owner that has most go first. What is in flight is never given up to make room, nor is what was
    touched or replaced within the last `IN_USE_SECONDS`; it goes when it is deleted or consumed, or when its time is over. What does
    not fit then is refused, and nothing goes for it. What has expired is not kept, also when nobody asks for anything again.
    """

    async def get(self, key: Key) -> Stored | None:
        """The value under a key; None where there is none or its time is over. It does not count as a use.

        Raises:
            Unavailable: the store cannot be reached.
        """
        ...

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """Keep a value, if nobody else was faster.

        Args:
            key: where.
            version: which version it replaces; None where there must be none yet.
            value: what is kept.
            seconds: for how long.
            owner: whose budget it counts against: the same for the same principal, or client, each time, and the same as that of the
                value it replaces.
            in_flight: does somebody wait for it, so that it must not be given up to make room?

        Returns:
            The new version; None, and nothing has happened, where the key holds another version, or none, or a value where there was to
            be none.

        Raises:
            Busy: the owner's budget does not suffice, whatever of it were given up.
            Unavailable: the budget of all does not suffice, or the store cannot be reached.
        """
        ...

    async def touch(self, key: Key, seconds: float) -> bool:
        """Keep a value for so many seconds from now on; its version stays. False where there is none.

        Raises:
            Unavailable: the store cannot be reached.
        """
        ...

    async def consume(self, key: Key) -> bytes | None:
        """Take a value out: of callers at the same time exactly one gets it, the others None.

        Raises:
            Unavailable: the store cannot be reached.
        """
        ...

    async def delete(self, key: Key) -> None:
        """Forget a key; nothing happens where there is none.

        Raises:
            Unavailable: the store cannot be reached.
        """
        ...


class Message(NamedTuple):
    """A message of a topic.

    Attributes:
        position: where it stands; letters of `[0-9A-Za-z_-]`, at most 64 of them, and never the same twice in a topic.
        body: what was published.
    """

    position: str
    body: bytes


class Reading(NamedTuple):
    """What was read of a topic.

    Attributes:
        messages: the oldest first, without a gap; perhaps not all that there are.
        position: from where the next read goes on.
        missed: are messages gone, or was the position never given out, so that something may be missing before these messages?
    """

    messages: Sequence[Message]
    position: str
    missed: bool


@runtime_checkable
class Hub(Protocol):
    """Messages from any worker to readers on any worker.

    A topic begins when it is opened. It keeps its newest messages, so many, so many bytes and so many seconds of them, for whoever
    reads, however often; it is forgotten when it is closed, and when for so many seconds nobody has opened it, published to it or read
    it. Topics count against the budget of their owner, and against that of all; where one is used up, the topic that has not been used
    for longest is forgotten, but none on which a reader waits: of this owner, or, where it is the budget of all, of the owner that has
    most. What has expired is not kept, also when nobody asks for anything again.
    """

    async def open(self, topic: Key, *, owner: str) -> str:
        """Begin a topic, or join one that has begun.

        Args:
            topic: which.
            owner: whose budget it counts against, if it begins now.

        Returns:
            The position after which everything comes that is published from now on.

        Raises:
            Busy: the owner's budget does not suffice.
            Unavailable: the budget of all does not suffice, or the hub cannot be reached.
        """
        ...

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """Put a message on a topic, and wake its readers, on all workers, and no others.

        Returns:
            Its position; None, and nothing is kept, where the topic is not open.

        Raises:
            Busy: the message does not fit into a topic, or the owner's budget does not suffice.
            Unavailable: the budget of all does not suffice, or the hub cannot be reached.
        """
        ...

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """Messages after a position, as soon as there are some.

        Args:
            topic: which.
            after: the position of the last message that is not needed; empty for everything that is kept. One that this topic has not
                given out misses something, and reads everything that is kept.
            seconds: for how long to wait where there is nothing to read and nothing was missed; 0 for not at all.

        Returns:
            What there is, without messages where none came in time; None, at once, where the topic is not open or is closed meanwhile.

        Raises:
            Unavailable: the hub cannot be reached.
        """
        ...

    async def close(self, topic: Key) -> None:
        """Forget a topic with all its messages, and wake its readers; nothing happens where it is not open."""
        ...

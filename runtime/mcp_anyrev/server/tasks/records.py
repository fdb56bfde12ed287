"""What is kept of tasks, where every worker finds it.

Rule: a task belongs to the principal whose call it was, or, where that is nobody in particular, to the session of the call; for everybody
else it does not exist. It is changed only in place of what was read, and what is over changes no more. A task whose worker has
not been heard of for a while has failed.
Specification: basic/utilities/tasks#task-status-lifecycle, basic/utilities/tasks#task-isolation-and-access-control
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mcp_contract import InternalError, InvalidParams, Json, JsonObject, ProtocolError, TaskOutcome
from pydantic_core import from_json, to_json

from mcp_anyrev.principal import name_of
from mcp_anyrev.storage.keys import key, new_name
from mcp_anyrev.storage.keys import name_of as name_of_text

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.conversation import Conversation
    from mcp_anyrev.storage.protocols import SessionStore

WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED = "working", "input_required", "completed", "failed", "cancelled"

SIGN_OF_LIFE_SECONDS = 15.0
"""How often a worker says of its tasks that it is at work on them."""

_LOST_AFTER_SECONDS = 3 * SIGN_OF_LIFE_SECONDS
_KIND, _LIST = "task", "tasks"
_MILLISECONDS = 1000

Kept = dict[str, Any]


class TaskRecord:
    """A task at the time of reading.

    Args:
        identifier: its id, which nobody can guess.
        kept: what the store has of it.
        now: seconds since the epoch.

    Attributes:
        identifier: see above.
        status: where it stands.
        over: has it ended, one way or another?
        questions: what it waits for: requests without ids in canonical form, by key.
        answers: what has been said to its questions, by key: `[answer]`, or nothing in the list where nobody answers.
    """

    __slots__ = ("_kept", "answers", "identifier", "over", "questions", "status")

    def __init__(self, identifier: str, kept: Kept, now: float) -> None:
        self.identifier = identifier
        self._kept = kept
        self.over = "status" in kept
        self.questions: Mapping[str, JsonObject] = {} if self.over else kept["questions"]
        self.answers: Mapping[str, list[Json]] = kept["answers"]
        if not self.over and now > kept["seen"] + _LOST_AFTER_SECONDS:
            self.over = True
            self._kept = {**kept, **_failed(InternalError("whoever worked on it is gone"))}
        self.status: str = self._kept.get("status") or (INPUT_REQUIRED if self.questions else WORKING)

    @property
    def seconds(self) -> float:
        """For how long it is kept from its beginning."""
        seconds: float = self._kept["ttl"] / _MILLISECONDS
        return seconds

    def task(self) -> JsonObject:
        """The task as a canonical `Task`."""
        kept = self._kept
        told = {
            "taskId": self.identifier,
            "status": self.status,
            "statusMessage": kept.get("message"),
            "createdAt": _written(kept["created"]),
            "lastUpdatedAt": _written(kept["updated"]),
        }
        told = {name: value for name, value in told.items() if value is not None}
        return {**told, "ttl": kept["ttl"], "pollInterval": kept["poll"]}

    def outcome(self, adapter: Adapter, signature: JsonObject) -> TaskOutcome:
        """What has become of it, in the words of a revision.

        Args:
            adapter: the revision.
            signature: who signs results.

        Raises:
            NotSendable: its result cannot be written in that revision.
        """
        result, error = self._kept.get("result"), self._kept.get("error")
        return TaskOutcome(
            None if result is None else adapter.encode_result(self._kept["method"], result, signature),
            None
            if error is None
            else {"code": adapter.error_codes[error["kind"]], "message": error["message"], **error["more"]},
            {asked: adapter.encode_question(question) for asked, question in self.questions.items()},
        )

    def failure(self) -> ProtocolError | None:
        """The error that its call ended in; None where it ended otherwise, or has not."""
        error = self._kept.get("error")
        return None if error is None else _error_class(error["kind"])(error["message"], error["more"].get("data"))


class TaskRecords:
    """Makes, finds and changes what is kept of tasks.

    Args:
        store: where it is.
        clock: seconds since the epoch, as all workers see them.
    """

    def __init__(self, store: SessionStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def create(self, conversation: Conversation, method: str, seconds: float, poll_seconds: float) -> TaskRecord:
        """A new task of whoever is at the other end of a conversation.

        Args:
            conversation: where its call came from.
            method: the method of the call.
            seconds: for how long it is kept.
            poll_seconds: how long to wait between two looks at it.

        Raises:
            Busy: the owner's budget does not suffice.
            Unavailable: the store cannot be reached, or there is no room for any.
        """
        identifier, now = new_name(), self._clock()
        kept: Kept = {
            "belongs": _belongs(conversation),
            "owner": conversation.owner,
            "method": method,
            "created": now,
            "updated": now,
            "seen": now,
            "until": now + seconds,
            "ttl": round(seconds * _MILLISECONDS),
            "poll": round(poll_seconds * _MILLISECONDS),
            "questions": {},
            "answers": {},
        }
        under = key(_KIND, identifier)
        await self._store.put_if(under, None, to_json(kept), seconds, owner=conversation.owner, in_flight=True)
        if kept["belongs"] is not None:
            await self._list(conversation, identifier, kept["until"])
        return TaskRecord(identifier, kept, now)

    async def find(self, conversation: Conversation, identifier: Json) -> TaskRecord:
        """A task of whoever is at the other end of a conversation.

        Raises:
            InvalidParams: they have none with this id.
            Unavailable: the store cannot be reached.
        """
        found = await self._read(identifier) if isinstance(identifier, str) else None
        if found is None or found[0]["belongs"] != _belongs(conversation):
            raise InvalidParams("there is no task with this id, or no longer")
        return TaskRecord(str(identifier), found[0], self._clock())

    async def now(self, identifier: str) -> TaskRecord | None:
        """A task as it is now, whosever it is; None where it is not kept any longer."""
        found = await self._read(identifier)
        return None if found is None else TaskRecord(identifier, found[0], self._clock())

    async def change(self, identifier: str, change: Callable[[TaskRecord], Kept]) -> TaskRecord | None:
        """Change a task, unless it is over.

        Args:
            identifier: which.
            change: from what is kept to the members that are to be set. It runs again where somebody else changed the task meanwhile,
                so it must do nothing but that.

        Returns:
            The task as changed; None where it was over, or is not kept any longer.

        Raises:
            Busy: the owner's budget does not suffice.
            Unavailable: the store cannot be reached.
        """
        while (found := await self._read(identifier)) is not None:
            kept, version = found
            now = self._clock()
            record = TaskRecord(identifier, kept, now)
            if record.over:
                return None
            kept |= change(record)
            seconds = max(1.0, kept["until"] - now)
            written, owner = to_json(kept), kept["owner"]
            under = key(_KIND, identifier)
            if await self._store.put_if(under, version, written, seconds, owner=owner, in_flight=True) is not None:
                return TaskRecord(identifier, kept, now)
        return None

    async def listed(self, conversation: Conversation) -> list[TaskRecord]:
        """The tasks of whoever is at the other end of a conversation, the oldest first; none of nobody in particular."""
        belongs = _belongs(conversation)
        stored = None if belongs is None else await self._store.get(key(_LIST, name_of_text(belongs)))
        names = {} if stored is None else from_json(stored.value)
        found = [(name, await self._read(name)) for name in names]
        now = self._clock()
        return [TaskRecord(name, kept[0], now) for name, kept in found if kept is not None]

    def seen(self) -> Kept:
        """What is set for a task that is being worked on."""
        return {"seen": self._clock()}

    def told(self, **members: Any) -> Kept:
        """What is set for a task of which something has changed that its owner sees."""
        return {**members, "seen": self._clock(), "updated": self._clock()}

    def ended(self, result: JsonObject) -> Kept:
        """What is set for a task whose call has its result, in canonical form."""
        return self.told(status=COMPLETED, message=None, result=result, questions={}, answers={})

    def failed(self, error: ProtocolError) -> Kept:
        """What is set for a task whose call ended in an error."""
        return self.told(**_failed(error), questions={}, answers={})

    def cancelled(self) -> Kept:
        """What is set for a task that is given up."""
        return self.told(status=CANCELLED, message=None, questions={}, answers={})

    async def _read(self, identifier: str) -> tuple[Kept, str] | None:
        try:
            under = key(_KIND, identifier)
        except ValueError:
            return None
        stored = await self._store.get(under)
        return None if stored is None else (from_json(stored.value), stored.version)

    async def _list(self, conversation: Conversation, identifier: str, until: float) -> None:
        """Note a task among those of its owner, and forget those that are not kept any longer."""
        under, now = key(_LIST, name_of_text(str(_belongs(conversation)))), self._clock()
        while True:
            stored = await self._store.get(under)
            known = {} if stored is None else {name: end for name, end in from_json(stored.value).items() if end > now}
            known[identifier] = until
            version = None if stored is None else stored.version
            seconds = max(known.values()) - now
            written = to_json(known)
            if await self._store.put_if(under, version, written, seconds, owner=conversation.owner) is not None:
                return


def _belongs(conversation: Conversation) -> str | None:
    """Whose a task is that a call makes; None for whoever has its id."""
    principal = name_of(conversation.principal)
    if principal is not None:
        return f"principal/{principal}"
    return None if conversation.session is None else f"session/{conversation.session.name}"


def _failed(error: ProtocolError) -> Kept:
    more = {} if error.data is None else {"data": error.data}
    try:
        to_json(more)
    except ValueError:  # it is an application's
        more = {}
    told = {"kind": error.kind, "message": error.message, "more": more}
    return {"status": FAILED, "message": error.message, "error": told}


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@lru_cache(maxsize=64)  # there are as many kinds of errors as the inventory has
def _error_class(kind: str) -> type[ProtocolError]:
    return type("KeptError", (ProtocolError,), {"kind": kind})

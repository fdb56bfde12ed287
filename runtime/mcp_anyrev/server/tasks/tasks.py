"""The tasks that run on this worker, and word of those that run anywhere.

Rule: who runs a task says again and again that it does, and hears of what others have set; how many run of one client is bounded, and for
how long.
Specification: basic/utilities/tasks#resource-management
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mcp_contract import (
    Busy,
    Json,
    ProtocolError,
    without,
)

from mcp_anyrev.conversation.bus import MISSED
from mcp_anyrev.conversation.outcomes import Outcome
from mcp_anyrev.server.tasks.records import SIGN_OF_LIFE_SECONDS, Kept, TaskRecord, TaskRecords
from mcp_anyrev.server.tasks.running import RunningTask

if TYPE_CHECKING:
    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.declaring.tools import Tool
    from mcp_anyrev.settings import Settings
    from mcp_anyrev.storage.protocols import SessionStore

log = logging.getLogger("mcp_anyrev.server")

TASK = "task"
"""What workers tell each other where a task has changed: its id."""

_MILLISECONDS = 1000
_LEAST_SECONDS = 1.0


class Tasks:
    """The tasks of one worker's server.

    Args:
        settings: how it is run.
        store: where tasks are kept.
        bus: the other workers.
        clock: seconds since the epoch, as all workers see them.

    Attributes:
        records: what is kept of tasks.
        poll_seconds: how long a client is told to wait between two looks at a task.
    """

    def __init__(
        self,
        settings: Settings,
        store: SessionStore,
        bus: Bus,
        clock: Callable[[], float],
    ) -> None:
        self.records = TaskRecords(store, clock)
        self.poll_seconds = settings.task_poll_seconds
        self._settings = settings
        self._bus = bus
        self._running: dict[str, RunningTask] = {}
        self._owners: Counter[str] = Counter()
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._alive: asyncio.Task[None] | None = None
        bus.hear(TASK, self._heard)
        bus.hear(MISSED, self._missed)

    async def answer(
        self, request: Request, tool: Tool, attempt: Callable[[RunningTask | None], Awaitable[Outcome]]
    ) -> Outcome:
        """Answer a call of a tool that runs as a task where that can be.

        Args:
            request: the call.
            tool: the tool.
            attempt: runs the call, with the task that it may become, if any.

        Raises:
            ProtocolError: it cannot be run, or ended in an error before it was a task.
        """
        asked = request.conversation.adapter.task_asked(request.params, request.client.capabilities)
        if asked is None:
            if tool.task_support == "required":
                request.conversation.adapter.without_task(tool.name)
            return await attempt(None)
        running = RunningTask(self, request, asked.ttl)
        request.params = without(request.params, "task")
        return await running.outcome(attempt, at_once=asked.at_once or not tool.takes_exchange)

    async def wind_up(self, seconds: float) -> None:
        """Wait until no task runs here any longer, for so many seconds; then end those that do."""
        running = list(self._running.values())
        if running:
            waiting = [asyncio.ensure_future(one.wait()) for one in running]
            await asyncio.wait(waiting, timeout=seconds)
            for one in running:
                one.give_up()
            await asyncio.wait(waiting, timeout=seconds)
        if self._alive is not None:
            self._alive.cancel()

    async def begin(self, running: RunningTask, request: Request, ttl: int | None) -> TaskRecord:
        """Keep a call that becomes a task; see `RunningTask.begin`."""
        conversation, settings = request.conversation, self._settings
        owner, most = conversation.owner, settings.limits.tasks_of_principal
        if self._owners[owner] >= most:
            raise Busy(f"{most} tasks are at work, which is the most; wait for one, or give one up")
        self._owners[owner] += 1
        try:
            await self._bus.ready()
            most_seconds = settings.task_seconds
            seconds = most_seconds if ttl is None else min(max(ttl / _MILLISECONDS, _LEAST_SECONDS), most_seconds)
            record = await self.records.create(conversation, request.method, seconds, self.poll_seconds)
        except BaseException:
            self._owners[owner] -= 1
            raise
        self._running[record.identifier] = running
        if self._alive is None or self._alive.done():
            self._alive = asyncio.get_running_loop().create_task(self._say_alive())
        log.info("task of %s began: %s", owner, request.method)
        return record

    def end(self, running: RunningTask) -> None:
        """The work of a call has ended."""
        if running.identifier is not None and self._running.pop(running.identifier, None) is not None:
            self._owners[running.owner] -= 1
            if not self._owners[running.owner]:
                del self._owners[running.owner]

    async def ready(self) -> None:
        """Return once no change of a task is missed any longer; see `Bus.ready`."""
        await self._bus.ready()

    async def change(self, identifier: str, change: Callable[[TaskRecord], Kept]) -> TaskRecord | None:
        """Change a task, and tell all workers; see `TaskRecords.change`."""
        record = await self.records.change(identifier, change)
        if record is not None:
            await self._bus.say({TASK: identifier})
        return record

    @contextmanager
    def told_of(self, identifier: str) -> Iterator[asyncio.Future[None]]:
        """What is done once a task has changed."""
        told = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(identifier, set())
        waiting.add(told)
        try:
            yield told
        finally:
            waiting.discard(told)
            if not waiting:
                self._waiting.pop(identifier, None)

    async def _heard(self, identifier: Json) -> None:
        for told in self._waiting.get(str(identifier), ()):
            if not told.done():
                told.set_result(None)
        running = self._running.get(str(identifier))
        if running is not None:
            await self._look(running)

    async def _missed(self, _: None) -> None:
        for identifier in {*self._waiting, *self._running}:
            await self._heard(identifier)

    async def _look(self, running: RunningTask) -> None:
        assert running.identifier is not None
        record = await self.records.now(running.identifier)
        if record is None or running.identifier not in self._running:
            running.give_up()
        else:
            running.changed(record)

    async def _say_alive(self) -> None:
        """Say of every task that runs here that somebody is at work on it, again and again."""
        while self._running:
            await asyncio.sleep(SIGN_OF_LIFE_SECONDS)
            for running in list(self._running.values()):
                assert running.identifier is not None
                try:
                    record = await self.records.change(running.identifier, lambda _: self.records.seen())
                except ProtocolError as error:
                    log.warning("that a task is being worked on cannot be said now: %s", error.message)
                    continue
                if record is None:
                    running.give_up()
                else:
                    running.changed(record)

"""The threads in which an application's code runs that is not async.

Rule: all of it that belongs to one call runs in one thread, what cleans up included, and in one context: much of what is opened in a
thread can be used in no other. Meanwhile the thread is that call's alone, or else a call could wait for a lock whose owner waits for
the thread. Threads come when they are needed, and go when they have had nothing to do for a while.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from mcp_anyrev.declaring.functions import plain_function, waited_for
from mcp_anyrev.turns import others_first
from mcp_anyrev.user_code import called, raised

_IDLE_SECONDS = 10.0

Given = TypeVar("Given")
Result = TypeVar("Result")


class _Step(NamedTuple):
    """Something to run, and where its result goes."""

    work: Callable[[], Any]
    future: Future[Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = called(self.work, raised)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class Threads:
    """The threads of one server.

    Args:
        most: how many there are at most; calls that find none wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._number = 0
        self._free: list[_Worker] = []
        self._turn = asyncio.Lock()
        self._waiting: deque[CallThread] = deque()

    async def run(self, function: Callable[..., Any], given: dict[str, Any]) -> Any:
        """Run a function that is all of its call that needs a thread.

        Args:
            function: is called with what is given.
            given: its arguments by name.

        Returns:
            What it returned; what it raised is raised here.
        """
        thread = CallThread(self)
        try:
            return await thread.run(function, **given)
        finally:
            thread.leave()

    async def aside(self, function: Callable[[Given], Result], given: Given) -> Result:
        """Run something that may take long, so that it does not hold up whatever does not need it; one at a time."""
        async with self._turn:
            result: Result = await self.run(functools.partial(function, given), {})
        await others_first()
        return result

    async def result_of(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, async or not; what is not runs in a thread."""
        waits = inspect.iscoroutinefunction(plain_function(function))
        found = function(*arguments) if waits else await self.run(functools.partial(function, *arguments), {})
        return await waited_for(found)

    def enter(self, thread: CallThread, step: _Step) -> None:
        """Have a step of a call run: in its thread, or in one that is free, or as soon as there is one."""
        with self._lock:
            if thread.worker is None and not thread.steps:
                thread.worker = self._worker()
                if thread.worker is None:
                    self._waiting.append(thread)
            if thread.worker is None:
                thread.steps.append(step)
            else:
                thread.worker.steps.put(step)

    def leave(self, thread: CallThread) -> None:
        """Have a call have no further step."""
        with self._lock:
            if thread.worker is not None:
                thread.worker.steps.put(None)
            elif thread.steps:
                self._waiting.remove(thread)

    def next_for(self, worker: _Worker) -> None:
        """Have a worker whose call has left serve another one."""
        with self._lock:
            if not self._waiting:
                self._free.append(worker)
                return
            thread = self._waiting.popleft()
            thread.worker = worker
            for step in thread.steps:
                worker.steps.put(step)

    def may_go(self, worker: _Worker) -> bool:
        """May a worker end that has had nothing to do for a while?"""
        with self._lock:
            if worker not in self._free:
                return False
            self._free.remove(worker)
            self._number -= 1
            return True

    def _worker(self) -> _Worker | None:
        if self._free:
            return self._free.pop()
        if self._number == self._most:
            return None
        self._number += 1
        return _Worker(self)


class CallThread:
    """The thread of one call, which it has from its first step on.

    Args:
        threads: where it is from.

    Attributes:
        worker: the thread; None as long as there is none.
        steps: what is to be run once there is one.
    """

    __slots__ = ("_context", "_threads", "steps", "worker")

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._context: contextvars.Context | None = None
        self.worker: _Worker | None = None
        self.steps: list[_Step] = []

    async def run(self, function: Callable[..., Any], /, *positional: Any, **named: Any) -> Any:
        """Run a function there, after all that has been run before; gives what it returned, or raises what it raised."""
        return await asyncio.wrap_future(self.start(function, *positional, **named))

    def start(self, function: Callable[..., Any], /, *positional: Any, **named: Any) -> Future[Any]:
        """The same without waiting for it."""
        if self._context is None:
            self._context = contextvars.copy_context()
        step = _Step(functools.partial(self._context.run, function, *positional, **named), Future())
        self._threads.enter(self, step)
        return step.future

    def leave(self) -> None:
        """Have no further step, but for those that are there."""
        self._threads.leave(self)


class _Worker:
    """One thread.

    Args:
        threads: where it is from.

    Attributes:
        steps: what it is to run; None where its call has left.
    """

    def __init__(self, threads: Threads) -> None:
        self.steps: queue.SimpleQueue[_Step | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(threads,), name="mcp-anyrev handlers", daemon=True).start()

    def _work(self, threads: Threads) -> None:
        while True:
            try:
                step = self.steps.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                if threads.may_go(self):
                    return
                continue
            if step is None:
                threads.next_for(self)
            else:
                step.run()
                del step  # nobody keeps what a call has made while there is nothing to do

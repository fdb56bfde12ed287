"""Running code of the application, and what becomes of whatever leaves it.

Rule: this is the only place that does: handlers, providers and hooks, `principal`, `visible`, lifespans, callbacks. Nothing that such
code raises ends more than what it was run for; what would is made an `Exception` here. Only what is not the application's passes: the
suspension of a call, a cancellation that somebody else asked for, and what a signal raises.
"""

from __future__ import annotations

import asyncio
import dis
import functools
import signal
import traceback
import types
from collections.abc import Awaitable, Callable, Generator, Iterator
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RAISE = dis.opmap["RAISE_VARARGS"]


class Suspended(BaseException):
    """A handler ends here, and runs again later. `except Exception` lets it pass, on purpose."""


class Contained(RuntimeError):
    """What the application raised would have ended a task, a generator, or the process; it is the cause of this."""


@types.coroutine
def awaited(work: Awaitable[Result], otherwise: Callable[[Exception], Result]) -> Generator[Any, Any, Result]:
    """The result of code of the application that can wait; run by a task, step by step.

    Args:
        work: runs it.
        otherwise: from what it raised to the result in its place; `raised` for none.

    Raises:
        Suspended: it has asked, and the answer has to come first.
        Exception: whatever `otherwise` raises.
    """
    steps, task = work.__await__(), asyncio.current_task()
    assert task is not None
    if not isinstance(steps, Generator):
        steps = _steps_of(steps)
    step, given = steps.send, None
    own = 0  # whatever else cancels the task does so while the application waits, never while it runs
    while True:
        before = task.cancelling()
        try:
            waited_for = step(given)
        except StopIteration as finished:
            own += task.cancelling() - before
            if own > 0:
                yield from _uncancelled(task, own).__await__()
            result: Result = finished.value
            return result
        except BaseException as error:
            if isinstance(error, GeneratorExit) and _current_task() is None:
                raise  # nobody waits any longer, and this is only put away
            own = max(0, own + task.cancelling() - before)
            if own:
                yield from _uncancelled(task, own).__await__()
            return otherwise(contained(error))
        own = max(0, own + task.cancelling() - before)
        try:
            given = yield waited_for
        except BaseException as error:
            step, given = steps.throw, error
        else:
            step = steps.send


def called(function: Callable[[], Result], otherwise: Callable[[Exception], Result]) -> Result:
    """The result of code of the application that does not wait; see `awaited`."""
    try:
        return function()
    except BaseException as error:
        return otherwise(contained(error))


def raised(error: Exception) -> NoReturn:
    """For `otherwise`: nothing is put in the place of what was to come."""
    raise error


def causes(error: Exception) -> Iterator[Exception]:
    """What a group of exceptions consists of, in order; an exception that is none consists of itself."""
    if isinstance(error, ExceptionGroup):
        for one in error.exceptions:
            yield from causes(one)
    else:
        yield error


def contained(error: BaseException) -> Exception:
    """What the application raised, as something that ends nothing but what it was run for; `awaited` and `called` make it that.

    Raises:
        BaseException: it is not the application's.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    if isinstance(error, BaseExceptionGroup):
        return _contained_group(error)
    if _is_not_the_applications(error):
        raise error
    made = Contained(f"{type(error).__name__} was raised")
    made.__cause__ = error
    return made


def _steps_of(steps: Iterator[Any]) -> Generator[Any, Any, Any]:
    return (yield from steps)


async def _uncancelled(task: asyncio.Task[Any], times: int) -> None:
    """Take back cancellations of the current task, also the one that would be raised where it waits next."""
    for _ in range(times):
        task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.cancelling():  # somebody else asked for one as well
            raise


def _contained_group(group: BaseExceptionGroup[BaseException]) -> Exception:
    """A task group wraps what its tasks raise; what passes, passes as itself."""
    for passing in (Suspended, asyncio.CancelledError, KeyboardInterrupt, SystemExit):
        for error in _members(group):
            if isinstance(error, passing) and _is_not_the_applications(error):
                raise error from None
    return ExceptionGroup(group.message, [contained(error) for error in group.exceptions])


def _members(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _members(error)
        else:
            yield error


def _is_not_the_applications(error: BaseException) -> bool:
    if isinstance(error, asyncio.CancelledError):
        task = _current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, Suspended) or _is_of_a_signal(error)


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return None


def _is_of_a_signal(error: BaseException) -> bool:
    """Was it raised by what handles a signal, wherever the application was then?"""
    trace = list(traceback.walk_tb(error.__traceback__))
    handling = {_code_of(signal.getsignal(number)) for number in _SIGNALS} - {None}
    if any(frame.f_code in handling for frame, _ in trace):
        return True
    if not isinstance(error, KeyboardInterrupt) or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    # Python's own handler has no frame. But it interrupts at any instruction, while the application raises at one that does.
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is None or last.tb_frame.f_code.co_code[last.tb_lasti] != _RAISE


def _code_of(handler: Any) -> types.CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    return getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)

"""Work that hardly ever waits, run without the cost of getting ready to wait.

Rule: a coroutine is run up to its first wait right here; only one that does wait is looked after, in the same task.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Resumed(Generic[Result]):
    """A coroutine that waits for something already, to be awaited further by the same task.

    Args:
        work: the coroutine.
        waited_for: what it waits for, as `work.send(None)` gave it.
    """

    __slots__ = ("_waited_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, Result], waited_for: Any) -> None:
        self._work = work
        self._waited_for = waited_for

    def __await__(self) -> Generator[Any, Any, Result]:
        """The result of the coroutine."""
        work, waited_for = self._work, self._waited_for
        try:
            while True:
                try:
                    got = yield waited_for
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:
                    waited_for = work.throw(error)
                else:
                    waited_for = work.send(got)
        except StopIteration as finished:
            result: Result = finished.value
            return result

"""The lifespans of a server's registries: entered when it starts, left when it stops.

Rule: once for a server, however many addresses it has, when it starts. One task enters and leaves them, since some context managers
insist on that. Whatever they raise is told to who starts and stops the server, and ends nothing else.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from mcp_anyrev.user_code import awaited, raised

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

log = logging.getLogger("mcp_anyrev.server")

Lifespan = Callable[["Registry"], AbstractAsyncContextManager[Any]]
"""From a registry to what is entered when a server of it starts."""


def takes_registry(lifespan: Lifespan) -> bool:
    """Can a lifespan be called as one?"""
    try:
        inspect.signature(lifespan).bind(None)
    except (TypeError, ValueError):
        return False
    return True


class Lifespans:
    """Runs them.

    Args:
        registry: what is served.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._values: dict[Registry, Any] = {}
        self._task: asyncio.Task[None] | None = None
        self._entered: asyncio.Future[None] | None = None
        self._leave: asyncio.Event | None = None

    @property
    def values(self) -> Mapping[Registry, Any]:
        """What they yielded, by registry; nothing where they are not entered."""
        return self._values

    async def start(self) -> None:
        """Enter them; nothing happens where they are entered.

        Raises:
            Exception: what one of them raised; those before it have been left.
        """
        if not any(registry.lifespan is not None or registry.beside for registry in self._registry.family()):
            return
        if self._task is None or self._entered is None or self._leave is None:
            self._leave = asyncio.Event()
            self._entered = asyncio.get_running_loop().create_future()
            self._task = asyncio.ensure_future(self._run(self._entered, self._leave))
        await asyncio.shield(self._entered)

    async def stop(self, seconds: float) -> None:
        """Leave them, in reverse order; nothing happens where they are not entered.

        Args:
            seconds: for how long; what has not been left then is cancelled.

        Raises:
            Exception: what one of them raised.
            TimeoutError: it took too long.
        """
        task, self._task = self._task, None
        if task is None or self._leave is None:
            return
        self._leave.set()
        await asyncio.wait((task,), timeout=seconds)
        if not task.done():
            task.cancel()
            raise TimeoutError(f"the lifespans took longer to end than {seconds:g} s")
        task.result()

    async def _run(self, entered: asyncio.Future[None], leave: asyncio.Event) -> None:
        try:
            await awaited(self._live(entered, leave), raised)
        except Exception as error:
            if entered.done():
                if not leave.is_set():
                    log.exception("a lifespan ended before the server did")
                raise
            self._task = self._entered = None
            entered.set_exception(error)
        finally:
            self._values.clear()

    async def _live(self, entered: asyncio.Future[None], leave: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            for registry in self._registry.family():
                if registry.lifespan is not None and registry not in self._values:
                    manager = registry.lifespan(registry)
                    self._values[registry] = await stack.enter_async_context(manager)
                for beside in registry.beside:
                    await stack.enter_async_context(beside())
            entered.set_result(None)
            await leave.wait()

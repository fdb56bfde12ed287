"""The exchange of one request: what its handler can do besides returning.

Rule: hands on to whoever does it. How a question travels is decided in `asking`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from mcp_contract import CannotAsk, Json

from mcp_anyrev.exchange import Exchange, SessionValues
from mcp_anyrev.principal import require_scopes
from mcp_anyrev.questions import Answer, Question
from mcp_anyrev.server.asking.asking import Asker, plain_json, refuse_undeclared
from mcp_anyrev.server.asking.capabilities import undeclared
from mcp_anyrev.server.reports import Reports
from mcp_anyrev.server.session_values import ValuesOfSession

if TYPE_CHECKING:
    from mcp_anyrev.conversation.requests import Request

Data = TypeVar("Data")


class RequestExchange(Exchange):
    """See `Exchange`.

    Args:
        asker: asks for this attempt.
        request: the request.
        asks: may the handler ask?
    """

    __slots__ = ("_asker", "_asks", "_remembering", "_reports", "_request", "client", "principal")

    def __init__(self, asker: Asker, request: Request, *, asks: bool) -> None:
        self._asker = asker
        self._asks = asks
        self._request = request
        self._remembering: dict[str, asyncio.Lock] = {}
        self._reports = Reports(request, asker.deprecations)
        self.client = request.client
        self.principal = request.conversation.principal

    async def ask(self, key: str, question: Question[Data], *, timeout_seconds: float | None = None) -> Answer[Data]:
        """See `Exchange.ask`."""
        self._check_asks()
        return (await self._asker.ask_many({key: question}, timeout_seconds))[key]

    async def ask_all(
        self,
        questions: Mapping[str, Question[Any]] | None = None,
        /,
        *,
        timeout_seconds: float | None = None,
        **more: Question[Any],
    ) -> dict[str, Answer[Any]]:
        """See `Exchange.ask_all`."""
        self._check_asks()
        return await self._asker.ask_many({**(questions or {}), **more}, timeout_seconds)

    @property
    def answered(self) -> bool:
        """See `Exchange.answered`."""
        return self._asker.answered

    @property
    def state(self) -> Json:
        """See `Exchange.state`."""
        return self._asker.unfinished.state

    async def suspend(self, state: Any) -> NoReturn:
        """See `Exchange.suspend`."""
        self._check_asks()
        self._asker.unfinished.state = plain_json(state)
        await self._asker.suspend()

    async def remember(self, key: str, work: Callable[[], Any]) -> Json:
        """See `Exchange.remember`."""
        done = self._asker.unfinished.done
        async with self._remembering.setdefault(key, asyncio.Lock()):
            if key not in done:
                given = work()
                done[key] = plain_json(await given if inspect.isawaitable(given) else given)
        return done[key]

    def require(self, *capability: str) -> None:
        """See `Exchange.require`."""
        adapter = self._request.conversation.adapter
        missing = undeclared(adapter, self.client.capabilities, capability)
        if missing is not None:
            refuse_undeclared(adapter, missing)

    def require_scopes(self, *scopes: str) -> None:
        """See `Exchange.require_scopes`."""
        require_scopes(self.principal, scopes)

    def completed(self, question: Question[Any]) -> None:
        """See `Exchange.completed`."""
        self._asker.completed(question)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """See `Exchange.progress`."""
        await self._reports.progress(progress, total, message)
        if message is not None and self._asker.task is not None and self._asker.task.identifier is not None:
            await self._asker.task.tell(message)

    async def answer_later(self) -> bool:
        """See `Exchange.answer_later`."""
        task = self._asker.task
        if task is None:
            return False
        await task.begin()
        return True

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """See `Exchange.log`."""
        await self._reports.log(level, data, logger)

    @property
    def session(self) -> SessionValues | None:
        """See `Exchange.session`."""
        session = self._request.conversation.session
        return None if session is None else ValuesOfSession(session)

    @property
    def cancelled(self) -> bool:
        """See `Exchange.cancelled`."""
        return self._request.given_up is not None

    def release_stream(self, retry: float = 1.0) -> None:
        """See `Exchange.release_stream`."""
        if not retry >= 0:
            raise ValueError("a client cannot come back after a negative time")
        conversation = self._request.conversation
        if conversation.adapter.closes_to_be_polled:
            conversation.outbox.release(round(retry * 1000))

    def _check_asks(self) -> None:
        if not self._asks:
            raise CannotAsk("this is declared with asks=False, and asks")

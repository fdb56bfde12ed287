"""What a handler that takes an `Exchange` can do besides returning.

Rule: the handler's view of one call. It knows neither the revision nor the transport; how a question travels is decided in `asking`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from mcp_contract import Json

from mcp_anyrev.principal import require_scopes
from mcp_anyrev.server.asking.asking import Asker, plain_json, refuse_undeclared
from mcp_anyrev.server.asking.capabilities import undeclared
from mcp_anyrev.server.asking.questions import Answer, Question
from mcp_anyrev.server.reports import Reports
from mcp_anyrev.server.session_values import SessionValues

if TYPE_CHECKING:
    from mcp_anyrev.conversation.calls import Call

Data = TypeVar("Data")


class Exchange:
    """One call, while it is answered. Handlers get it by annotating a parameter with this class.

    Attributes:
        client: capabilities and information as the client declared them for this call.
        principal: who calls, as `Settings.principal` found; None for nobody in particular.
    """

    __slots__ = ("_asker", "_call", "_once", "_reports", "client", "principal")

    def __init__(self, asker: Asker, call: Call) -> None:
        self._asker = asker
        self._call = call
        self._once: dict[str, asyncio.Lock] = {}
        self._reports = Reports(call)
        self.client = call.client
        self.principal = call.context.principal

    async def ask(self, key: str, question: Question[Data]) -> Answer[Data]:
        """Put a question to the client: to the person behind it, to its model, or for its roots.

        Depending on what the client speaks, the handler waits here, or it ends here and runs again from its beginning once the
        answer is there. So what stands before a question may run several times (see `once`), and a question must be the same
        each time it is asked. Questions awaited together (`asyncio.gather`) travel together.

        Args:
            key: names the question within this call; never use one for two questions.
            question: what `elicit`, `sample` or `roots` made.

        Returns:
            The answer. Where none came in time, or none that says what it is, it is not accepted and its action is None.

        Raises:
            ToolError: the client did not declare that it can be asked in this way.
            MissingClientCapability: the same, where the revision has an error for it.
            CannotAsk: the request is of a kind that cannot ask in this revision.
            ValueError: the key has been used for another question.

        Specification: client/elicitation#protocol-messages
        """
        return (await self._asker.ask_many({key: question}))[key]

    async def ask_all(self, **questions: Question[Any]) -> dict[str, Answer[Any]]:
        """Put several questions at once: one round trip where questions travel in results.

        Args:
            questions: what `elicit`, `sample` or `roots` made, by key.

        Returns:
            The answers by key.

        Raises:
            ToolError, MissingClientCapability, CannotAsk, ValueError: as `ask` does.

        Specification: client/elicitation#protocol-messages
        """
        return await self._asker.ask_many(questions)

    @property
    def state(self) -> Json:
        """What this call kept with `suspend`, in its form as JSON; None where it has kept nothing."""
        return self._asker.unfinished.state

    async def suspend(self, state: Any) -> NoReturn:
        """End here, and run again from the beginning with `state`, all answers and what `once` gave kept.

        Where a result can say so, the client calls again when it likes. Where none can, the handler runs again within this
        call: at once, then after longer and longer pauses, for as long as a question may wait.

        Args:
            state: what to keep; anything that becomes JSON. It travels through the client sealed, so it should be small.

        Raises:
            TypeError: the state does not become JSON.

        Specification: basic/patterns/mrtr#server-requirements-basic-workflow
        """
        self._asker.unfinished.state = plain_json(state)
        await self._asker.suspend()

    async def once(self, key: str, work: Callable[[], Any]) -> Json:
        """Do work that must not be repeated when the handler runs again, however often it asks.

        Args:
            key: names the work within this call.
            work: a function, async or not, without parameters. Where it raises, it counts as not done.

        Returns:
            What it gave, in its form as JSON: now, or when it was done. It travels like a `suspend` state.

        Raises:
            TypeError: what it gave does not become JSON.
        """
        done = self._asker.unfinished.done
        async with self._once.setdefault(key, asyncio.Lock()):
            if key not in done:
                given = work()
                done[key] = plain_json(await given if inspect.isawaitable(given) else given)
        return done[key]

    def require(self, *capability: str) -> None:
        """Go on only if the client declared a capability.

        Args:
            capability: its path, such as `"sampling"` or `"sampling", "tools"`. What can be asked without a declaration counts
                as declared.

        Raises:
            MissingClientCapability: it did not, and the revision has an error for that.
            ToolError: it did not.

        Specification: basic/index#_meta
        """
        adapter = self._call.context.adapter
        missing = undeclared(adapter, self.client.capabilities, capability)
        if missing is not None:
            refuse_undeclared(adapter, missing)

    def require_scopes(self, *scopes: str) -> None:
        """Go on only if who calls may do all of this; the client learns what to ask for.

        Args:
            scopes: the scopes that are needed.

        Raises:
            Unauthorized: nobody in particular calls.
            Forbidden: a scope is missing.

        Specification: basic/authorization#scope-challenge-handling
        """
        require_scopes(self.principal, scopes)

    def completed(self, question: Question[Any]) -> None:
        """Tell the client that what the person was to do at an address is done, where the revision has words for it.

        Nobody is told once the call has been answered: whoever waits for the person does so in the handler.

        Args:
            question: the very question, with a url, that this call has asked.

        Specification: client/elicitation#completion-notifications-for-url-mode-elicitation
        """
        self._asker.completed(question)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the call has got, if the client wants to know; where it does not, nothing happens.

        Args:
            progress: how much is done. A value that is not larger than the last one is not sent.
            total: how much there is to do, if that is known.
            message: what is being done, for people; left out where the revision has no place for it.

        Raises:
            ValueError: a number is not finite.

        Specification: basic/patterns/progress#progress-flow
        """
        await self._reports.progress(progress, total, message)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client wants messages of this level; where it does not, nothing happens.

        Args:
            level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
            data: anything that becomes JSON. The client gets to see it, so nothing secret.
            logger: what it comes from.

        Raises:
            ValueError: there is no such level, or the data cannot be written as JSON.

        Specification: server/utilities/logging#log-message-notifications
        """
        await self._reports.log(level, data, logger)

    @property
    def session(self) -> SessionValues | None:
        """Values that last from call to call of the client's session; None where there is no session.

        Specification: basic/transports#session-management
        """
        session = self._call.context.session
        return None if session is None else SessionValues(session)

    @property
    def cancelled(self) -> bool:
        """Has the call been given up, so that nobody wants its answer? The handler is cancelled as well."""
        return self._call.context.cancelled

    def release_stream(self, retry: float = 1.0) -> None:
        """Close the stream of the call while its work goes on; the client comes back for the rest.

        Where the revision does not have that, or the call has no session, nothing happens.

        Args:
            retry: after how many seconds the client is to come back.

        Raises:
            ValueError: it is negative.

        Specification: basic/transports#sending-messages-to-the-server
        """
        if not retry >= 0:
            raise ValueError("a client cannot come back after a negative time")
        context = self._call.context
        if context.adapter.closes_to_be_polled and context.outbox is not None:
            context.outbox.release(round(retry * 1000))

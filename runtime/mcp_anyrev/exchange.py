"""What a handler that takes an `Exchange` can do besides returning.

Rule: the handler's view of one call, and nothing of how it is done. It knows neither the revision nor the transport, and not which way
a question travels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from mcp_contract import Declaration, Json

if TYPE_CHECKING:
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.questions import Answer, Question

Data = TypeVar("Data")


class SessionValues(Protocol):
    """Values by name, for as long as a session lives, on whichever worker its calls are answered. Values are JSON.

    Specification: basic/transports#session-management
    """

    __slots__ = ()

    async def get(self, name: str, default: Json = None) -> Json:
        """The value under a name, or the default where there is none."""
        ...

    async def set(self, name: str, value: Json) -> None:
        """Keep a value under a name.

        Raises:
            ValueError: it cannot be written as JSON.
        """
        ...

    async def update(self, name: str, change: Callable[[Json], Json], default: Json = None) -> Json:
        """Change a value so that no change at the same time is lost.

        Args:
            name: its name.
            change: from the value, or the default where there is none, to the new one. It runs again where another call was
                faster, so it must do nothing but that.
            default: what is changed where there is nothing yet.

        Returns:
            The new value.

        Raises:
            ValueError: it cannot be written as JSON.
        """
        ...

    async def delete(self, name: str) -> None:
        """Forget a value; nothing happens where there is none."""
        ...


class Exchange(Protocol):
    """One call, while it is answered. Handlers get it by annotating a parameter with this class.

    Attributes:
        client: capabilities and information as the client declared them for this call.
        principal: who calls, as `Settings.principal` found; None for nobody in particular.
    """

    __slots__ = ()

    client: Declaration
    principal: Principal | None

    async def ask(self, key: str, question: Question[Data], *, timeout_seconds: float | None = None) -> Answer[Data]:
        """Put a question to the client: to the person behind it, to its model, or for its roots.

        Depending on what the client speaks, the handler waits here, or it ends here and runs again from its beginning once the
        answer is there. So what stands before a question may run several times (see `remember`), and a question must be the
        same each time it is asked. Questions awaited together (`asyncio.gather`) travel together.

        Args:
            key: names the question within this call; never use one for two questions.
            question: what `elicit`, `sample` or `roots` made.
            timeout_seconds: for how long this question waits for its answer, where the handler waits; what
                `Settings.ask_timeout_seconds` says if not given. Where it ends, the client comes back when it likes, while
                `Settings.state_ttl_seconds` last.

        Returns:
            The answer. Where none came in time, or none that says what it is, it is not accepted and its action is None.

        Raises:
            ToolError: the client did not declare that it can be asked in this way, or no client of its revision can.
            MissingClientCapability: the same, where the revision has an error for it.
            CannotAsk: the request is of a kind that cannot ask in this revision, or what runs is declared with `asks=False`.
            ValueError: the key has been used for another question, or the timeout is no time.

        Specification: client/elicitation#protocol-messages
        """
        ...

    async def ask_all(
        self,
        questions: Mapping[str, Question[Any]] | None = None,
        /,
        *,
        timeout_seconds: float | None = None,
        **more: Question[Any],
    ) -> dict[str, Answer[Any]]:
        """Put several questions at once: one round trip where questions travel in results.

        Args:
            questions: what `elicit`, `sample` or `roots` made, by key; any text is a key.
            timeout_seconds: for how long each of them waits; see `ask`.
            more: the same, for keys that are Python names.

        Returns:
            The answers by key.

        Raises:
            ToolError, MissingClientCapability, CannotAsk, ValueError: as `ask` does.

        Specification: client/elicitation#protocol-messages
        """
        ...

    @property
    def answered(self) -> bool:
        """Has this call been answered anything, or does it go on from an earlier one? Then nobody may keep what it gives.

        Specification: server/utilities/caching
        """
        ...

    @property
    def state(self) -> Json:
        """What this call kept with `suspend`, in its form as JSON; None where it has kept nothing."""
        ...

    async def suspend(self, state: Any) -> NoReturn:
        """End here, and run again from the beginning with `state`, all answers and what `remember` has kept.

        Where a result can say so, the client calls again when it likes. Where none can, the handler runs again within this
        call: at once, then after longer and longer pauses, for as long as a question may wait.

        Args:
            state: what to keep; anything that becomes JSON. It travels through the client sealed, so it should be small.

        Raises:
            TypeError: the state does not become JSON.
            CannotAsk: what runs is declared with `asks=False`.

        Specification: basic/patterns/mrtr#server-requirements-basic-workflow
        """
        ...

    async def remember(self, key: str, work: Callable[[], Any]) -> Json:
        """Do work that must not be repeated, and have what it gave whenever the handler runs again, however often it asks.

        Args:
            key: names the work within this call.
            work: a function, async or not, without parameters. Where it raises, it counts as not done.

        Returns:
            What it gave, in its form as JSON: now, or when it was done. It travels like a `suspend` state.

        Raises:
            TypeError: what it gave does not become JSON.
        """
        ...

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
        ...

    def require_scopes(self, *scopes: str) -> None:
        """Go on only if who calls may do all of this; the client learns what to ask for.

        Args:
            scopes: the scopes that are needed.

        Raises:
            Unauthorized: nobody in particular calls.
            Forbidden: a scope is missing.

        Specification: basic/authorization#scope-challenge-handling
        """
        ...

    def completed(self, question: Question[Any]) -> None:
        """Tell the client that what the person was to do at an address is done, where the revision has words for it.

        Nobody is told once the call has been answered: whoever waits for the person does so in the handler.

        Args:
            question: the very question, with a url, that this call has asked.

        Specification: client/elicitation#completion-notifications-for-url-mode-elicitation
        """
        ...

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the call has got, if the client wants to know; where it does not, nothing happens.

        Args:
            progress: how much is done. A value that is not larger than the last one is not sent.
            total: how much there is to do, if that is known.
            message: what is being done, for people; left out where the revision has no place for it.

        Where the call is a task, the message says how the task stands.

        Raises:
            ValueError: a number is not finite.

        Specification: basic/patterns/progress#progress-flow
        """
        ...

    async def answer_later(self) -> bool:
        """Let the client have the answer later, from here on: the call becomes a task, if its tool is declared with `task_support`.

        The client is answered at once, with the task, by which it finds the result, says that it does not need it any longer, and
        answers what is asked from here on. The handler goes on as before. What is asked before this is asked before there is a task.

        Returns:
            Is the call a task now, or was it already? False where the client does not know tasks; then it waits for the result.

        Raises:
            Busy: the client has too many tasks.
            Unavailable: the task cannot be kept now.

        Specification: basic/utilities/tasks
        """
        ...

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
        ...

    @property
    def session(self) -> SessionValues | None:
        """Values that last from call to call of the client's session; None where there is no session.

        Specification: basic/transports#session-management
        """
        ...

    @property
    def cancelled(self) -> bool:
        """Has the call been given up, so that nobody wants its answer? The handler is cancelled as well."""
        ...

    def release_stream(self, retry: float = 1.0) -> None:
        """Close the stream of the call while its work goes on; the client comes back for the rest.

        Where the revision does not have that, or the call has no session, nothing happens.

        Args:
            retry: after how many seconds the client is to come back.

        Raises:
            ValueError: it is negative.

        Specification: basic/transports#sending-messages-to-the-server
        """
        ...

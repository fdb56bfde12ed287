"""What a handler that takes an `Exchange` can do besides returning.

Rule: the handler's view of one call. It knows neither the revision nor the transport; how a question travels is decided in `asking`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from mcp_contract import Declaration

from mcp_anyrev.server.asking import Asker
from mcp_anyrev.server.questions import Answer, Question

Data = TypeVar("Data")


class Exchange:
    """One call, while it is answered. Handlers get it by annotating a parameter with this class.

    Attributes:
        client: capabilities and information as the client declared them for this call.
        principal: who calls, as `Settings.principal` found; None for nobody in particular.
    """

    __slots__ = ("_asker", "client", "principal")

    def __init__(self, asker: Asker, client: Declaration, principal: str | None) -> None:
        self._asker = asker
        self.client = client
        self.principal = principal

    async def ask(self, key: str, question: Question[Data]) -> Answer[Data]:
        """Put a question to the person behind the client.

        Depending on what the client speaks, the handler waits here, or it ends here and runs again from its beginning once the
        answer is there. So what stands before the first question may run several times, and a question must be the same each
        time it is asked. Questions awaited together (`asyncio.gather`) travel together.

        Args:
            key: names the question within this call; never use one for two questions.
            question: what `elicit` made.

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
            questions: what `elicit` made, by key.

        Returns:
            The answers by key.

        Raises:
            ToolError, MissingClientCapability, CannotAsk, ValueError: as `ask` does.

        Specification: client/elicitation#protocol-messages
        """
        return await self._asker.ask_many(questions)

"""Answering requests about what is declared: lists, and whatever uses things of a kind.

Rule: what is not offered to who asks is not there, whichever way it is asked for. Where nothing stands around a request, nothing is
paid for it.
Specification: server/tools, server/resources, server/prompts, server/utilities/completion
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from mcp_contract import InvalidParams, JsonObject, MethodNotFound, ProtocolError, check_result

from mcp_anyrev.conversation.outcomes import Outcome, Prepared, Result
from mcp_anyrev.declaring.around import Invocation, surrounded
from mcp_anyrev.declaring.kinds import Kind, Use
from mcp_anyrev.declaring.returned import UnusableResult
from mcp_anyrev.declaring.visibility import holds, in_words
from mcp_anyrev.errors import ToolError
from mcp_anyrev.principal import name_of
from mcp_anyrev.server.asking.asking import refuse_undeclared
from mcp_anyrev.server.asking.capabilities import undeclared
from mcp_anyrev.server.asking.elicitation import UrlElicitationRequired
from mcp_anyrev.server.offers import filled
from mcp_anyrev.user_code import awaited

if TYPE_CHECKING:
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.declaring.lifespans import Lifespans
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.asking.attempts import Attempts
    from mcp_anyrev.server.offers import Offer, View
    from mcp_anyrev.server.tasks.running import RunningTask
    from mcp_anyrev.server.tasks.tasks import Tasks

log = logging.getLogger("mcp_anyrev.server")

Method = Callable[["Request"], Coroutine[Any, Any, Outcome]]
"""Answers the requests of one method; what it raises is an error, which is its answer."""


class Methods:
    """Answers them for one offer.

    Args:
        registry: what is declared.
        offer: what a revision gets of it.
        attempts: runs what may ask.
        lifespans: the values of the lifespans.
        threads: where what is not async runs.
        tasks: the calls that are answered later.
    """

    def __init__(
        self,
        registry: Registry,
        offer: Offer,
        attempts: Attempts,
        lifespans: Lifespans,
        threads: Threads,
        tasks: Tasks,
    ) -> None:
        self._registry = registry
        self._offer = offer
        self._attempts = attempts
        self._lifespans = lifespans
        self._threads = threads
        self._tasks = tasks

    async def list(self, request: Request) -> Outcome:
        """Answer a request for a list."""
        conversation, method = request.conversation, request.method
        kind, _ = self._offer.listings[method]
        if method not in conversation.adapter.client_requests:  # no schema knows it
            _check_extension(kind, request)
        view = self._offer.view(conversation.principal)
        if self._registry.hooks:
            return await self._run(request, Listing(view, method))
        return Prepared(view.finished_page(method, request.params.get("cursor")))

    async def use(self, request: Request) -> Outcome:
        """Answer a request that uses something."""
        conversation, method, params = request.conversation, request.method, request.params
        adapter, kind = conversation.adapter, self._offer.uses[method]
        if method not in adapter.client_requests:
            _check_extension(kind, request)
        try:
            use = kind.use(self._offer.view(conversation.principal), method, params)
        except ProtocolError as error:
            self._tell_if_hidden(kind, params.get(kind.named_by), conversation.principal)
            if not self._registry.hooks:
                raise
            use = Refused(error, params.get(kind.named_by), None)
        use.size, offered = conversation.size, use.offered
        if offered is None:
            return await self._run(request, use)
        if self._offer.answers_later and not offered.part.answers_later:
            asked = adapter.task_asked(params, request.client.capabilities)
            if asked is not None and asked.at_once:
                raise MethodNotFound(f"{use.label} does not run as a task")
        if offered.header_schema is not None and conversation.headers is not None:
            adapter.check_param_headers(conversation.headers, params.get("arguments", {}), offered.header_schema)
        try:
            if not offered.alone:
                if use.part.requires:
                    try:
                        _check_required(request, use.part.requires)
                    except (ProtocolError, ToolError) as error:
                        if not self._registry.hooks:
                            return Result(use.answer_to(error))
                        use = Refused(error, use.target, use)
                return await self._run(request, use)
            result = await awaited(use.run(params, None, self._threads), use.answer_to)
        except UrlElicitationRequired as error:
            return Result(use.answer_to(error.unless_sent(adapter, request.client.capabilities)))
        try:
            check_result(result, adapter)
        except ValueError as error:
            result = use.answer_to(UnusableResult(str(error)))
        return Result(result if kind.extension is None else filled(adapter, method, result), use.answer_to)

    def _tell_if_hidden(self, kind: Kind, name: Any, principal: Principal | None) -> None:
        """Say in the log that something is there, but not for who asks: they are told that there is no such thing."""
        hidden = self._offer.offered[kind].get(name) if isinstance(name, str) else None
        if hidden is not None:
            needs = [in_words(each) for each in hidden.part.visible if not holds(each, principal)]
            log.info("%s does not see the %s %r: %s", name_of(principal) or "nobody", kind.noun, name, "; ".join(needs))

    async def surrounded(self, answer: Method, request: Request) -> Outcome:
        """Answer a request that is about nothing declared, with the hooks around it.

        Args:
            answer: answers it.
            request: the request.
        """
        return await self._run(request, Other(request, answer))

    async def _run(self, request: Request, use: Use) -> Outcome:
        """Run what a request is for, with everything around it, as often as it takes."""
        conversation, part = request.conversation, use.part
        path = (self._registry,) if part is None else part.path
        values = self._lifespans.values

        async def run(own: JsonObject, exchange: Exchange | None) -> JsonObject:
            def proceed(invocation: Invocation) -> Awaitable[JsonObject]:
                return use.run(invocation.params, exchange, self._threads)

            invocation = Invocation(request.method, use.target, own, request.client, conversation.principal)
            result = await awaited(surrounded(path, values, proceed)(invocation), use.answer_to)
            try:
                check_result(result, conversation.adapter)
            except ValueError as error:
                result = use.answer_to(UnusableResult(str(error)))
            return filled(conversation.adapter, request.method, result)

        async def attempt(task: RunningTask | None) -> Outcome:
            if part is None or not part.takes_exchange:
                return Result(await run(request.params, None), use.answer_to)
            try:
                outcome = await self._attempts.run(
                    request, use.target or "", run, asks=part.asks, once=use.once, task=task
                )
            except ToolError as error:  # it could not be taken up again
                return Result(use.answer_to(error))
            return Result(outcome.value, use.answer_to) if isinstance(outcome, Result) else outcome

        if part is not None and part.answers_later:
            return await self._tasks.answer(request, part, attempt)
        return await attempt(None)


def _check_required(request: Request, paths: Sequence[tuple[str, ...]]) -> None:
    """See that the client declared all that is required.

    Raises:
        MissingClientCapability: it did not, and the revision has an error for that.
        ToolError: it did not.
    """
    adapter = request.conversation.adapter
    for path in paths:
        missing = undeclared(adapter, request.client.capabilities, path)
        if missing is not None:
            refuse_undeclared(adapter, missing)


def _check_extension(kind: Kind, request: Request) -> None:
    """See that a request of an extension's method comes from a client that may use the extension, and fits the method.

    Raises:
        ProtocolError: it does not.
    """
    if kind.declared_by_clients:
        adapter = request.conversation.adapter
        missing = undeclared(adapter, request.client.capabilities, ("extensions", kind.extension or kind.name))
        if missing is not None:
            refuse_undeclared(adapter, missing)
    cursor = request.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidParams("cursor: text is wanted")
    kind.check_params(request.method, request.params)


class Listing(Use):
    """A request for a list, as far as hooks are concerned.

    Args:
        view: what who asks sees.
        method: the method of the request.
    """

    __slots__ = ("_method", "_view")

    def __init__(self, view: View, method: str) -> None:
        super().__init__(None, None)
        self._view = view
        self._method = method

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        return self._view.page(self._method, params.get("cursor"))


class Refused(Use):
    """A request that is refused before anything of it runs, as far as hooks are concerned.

    Args:
        error: the refusal.
        target: what it is for, as far as it says.
        refused: what it would have been; None where there is no such thing.
    """

    __slots__ = ("_error", "_refused")

    def __init__(self, error: Exception, target: str | None, refused: Use | None) -> None:
        super().__init__(None, target)
        self._error = error
        self._refused = refused

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        raise self._error

    def failed(self, words: str) -> JsonObject:
        """See `Use.failed`."""
        return super().failed(words) if self._refused is None else self._refused.failed(words)


class Other(Use):
    """A request that uses nothing that is declared, as far as hooks are concerned.

    Args:
        request: the request.
        answer: answers it.
    """

    __slots__ = ("_answer", "_request")

    def __init__(self, request: Request, answer: Method) -> None:
        super().__init__(None, request.params.get("uri"))
        self._request = request
        self._answer = answer

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        self._request.params = params
        outcome = await self._answer(self._request)
        return outcome.value if isinstance(outcome, Result) else {}

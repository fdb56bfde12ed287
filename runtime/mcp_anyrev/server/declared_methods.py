"""Answering requests about what is declared: lists, calls, reading, getting, completing.

Rule: what a revision is not offered is not there, whichever way it is asked for. Where nothing stands around a call, nothing is paid
for it.
Specification: server/tools, server/resources, server/prompts, server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import InvalidParams, JsonObject, ResourceNotFound

from mcp_anyrev.conversation.outcomes import Outcome, Prepared, Result
from mcp_anyrev.declaring.around import Invocation, surrounded
from mcp_anyrev.declaring.contents import completion_result, prompt_result, resource_result
from mcp_anyrev.declaring.prompts import PROMPT, completion_key
from mcp_anyrev.server.handled import handled
from mcp_anyrev.server.tool_calls import run_tool

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.lifespans import Lifespans
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.server.asking.attempts import Attempts
    from mcp_anyrev.server.offers import Offer

Method = Callable[["Request"], Coroutine[Any, Any, Outcome]]

_Work = Callable[[JsonObject, "Exchange | None"], Awaitable[JsonObject]]


class DeclaredMethods:
    """Answers them.

    Args:
        offer: what a revision gets of the registry as it is now.
        attempts: runs what may ask.
        lifespans: the values of the lifespans.
        threads: where what is not async runs.
    """

    def __init__(
        self, offer: Callable[[Adapter], Offer], attempts: Attempts, lifespans: Lifespans, threads: Threads
    ) -> None:
        self._offer = offer
        self._attempts = attempts
        self._lifespans = lifespans
        self._threads = threads
        self.methods: Mapping[str, Method] = {
            "tools/list": self._list,
            "tools/call": self._call_tool,
            "resources/list": self._list,
            "resources/templates/list": self._list,
            "resources/read": self._read_resource,
            "prompts/list": self._list,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }

    async def _list(self, request: Request) -> Outcome:
        offer = self._offer(request.conversation.adapter)
        return Prepared(offer.page(request.method, request.params.get("cursor")))

    async def _call_tool(self, request: Request) -> Outcome:
        conversation, params = request.conversation, request.params
        adapter = conversation.adapter
        offered = self._offer(adapter).tools.get(params["name"])
        if offered is None:
            raise InvalidParams(f"there is no tool {params['name']!r}")
        tool = offered.tool
        if tool.has_header_parameters and conversation.headers is not None:
            given = params.get("arguments", {})
            adapter.check_param_headers(conversation.headers, given, tool.description["inputSchema"])
        if offered.direct:
            return Result(await run_tool(offered, params.get("arguments", {}), None, self._threads))

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            return run_tool(offered, own.get("arguments", {}), exchange, self._threads)

        return await self._use(request, tool, tool.name, work, once=tool.once)

    async def _read_resource(self, request: Request) -> Outcome:
        uri = request.params["uri"]
        found = self._offer(request.conversation.adapter).resource(uri)
        if found is None:
            raise ResourceNotFound(uri)
        resource, arguments = found

        def result_of(value: Any) -> JsonObject:
            return resource_result(resource, uri, value)

        def wrong(words: str) -> ResourceNotFound:
            return ResourceNotFound(uri)  # the values come from the address, so it is none of these resources

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            return handled("resource", resource, arguments, exchange, self._threads, result_of, wrong)

        return await self._use(request, resource, uri, work)

    async def _get_prompt(self, request: Request) -> Outcome:
        name = request.params["name"]
        prompt = self._offer(request.conversation.adapter).prompts.get(name)
        if prompt is None:
            raise InvalidParams(f"there is no prompt {name!r}")

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            arguments = own.get("arguments", {})
            return handled(
                "prompt", prompt, arguments, exchange, self._threads, lambda value: prompt_result(prompt, value)
            )

        return await self._use(request, prompt, prompt.key, work)

    async def _complete(self, request: Request) -> Outcome:
        offer = self._offer(request.conversation.adapter)
        kind, typed = request.params["ref"]["type"], request.params["argument"]
        of = request.params["ref"]["name"] if kind == PROMPT else request.params["ref"]["uri"]
        completion = offer.completions.get(completion_key(kind, of, typed["name"]))
        if completion is None:
            if typed["name"] not in offer.arguments_of(kind, of):
                raise InvalidParams(f"there is nothing to complete: {of!r} has no argument {typed['name']!r}")
            return Result(completion_result([]))

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            arguments: dict[str, Any] = {"value": typed["value"]}
            if completion.takes_others:
                arguments["arguments"] = own.get("context", {}).get("arguments", {})
            return handled("completion", completion, arguments, exchange, self._threads, completion_result)

        return await self._use(request, completion, of, work)

    async def _use(self, request: Request, part: Declared, target: str, work: _Work, *, once: bool = False) -> Outcome:
        """Run what a part is for, with everything around it, as often as it takes."""
        values = await self._lifespans.values()

        def run(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            def proceed(invocation: Invocation) -> Awaitable[JsonObject]:
                return work(invocation.params, exchange)

            invocation = Invocation(request.method, target, own, request.client, request.conversation.principal)
            return surrounded(part, values, proceed)(invocation)

        if part.takes_exchange:
            return await self._attempts.run(request, target, run, asks=part.asks, once=once)
        return Result(await run(request.params, None))

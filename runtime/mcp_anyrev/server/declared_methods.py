"""Answering requests about what is declared: lists, calls, reading, getting, completing.

Rule: what a revision is not offered is not there, whichever way it is asked for. Where nothing stands around a call, nothing is paid
for it.
Specification: server/tools, server/resources, server/prompts, server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import InvalidParams, JsonObject, ResourceNotFound
from pydantic_core import to_json

from mcp_anyrev.declaring.around import Invocation, surrounded
from mcp_anyrev.declaring.contents import completion_result, prompt_result, resource_result
from mcp_anyrev.declaring.prompts import PROMPT, completion_key
from mcp_anyrev.server.handled import handled
from mcp_anyrev.server.tool_calls import run_tool

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.calls import Call
    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.lifespans import Lifespans
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.server.asking.attempts import Attempts
    from mcp_anyrev.server.offers import Offer

Answering = Callable[["Call", JsonObject], Awaitable[bytes]]
"""From a call and its params to the result as JSON."""

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
        self.methods: Mapping[str, Answering] = {
            "tools/list": self._list,
            "tools/call": self._call_tool,
            "resources/list": self._list,
            "resources/templates/list": self._list,
            "resources/read": self._read_resource,
            "prompts/list": self._list,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }

    async def _list(self, call: Call, params: JsonObject) -> bytes:
        return self._offer(call.context.adapter).page(call.method, params.get("cursor"))

    async def _call_tool(self, call: Call, params: JsonObject) -> bytes:
        context = call.context
        adapter = context.adapter
        offer = self._offer(adapter)
        offered = offer.tools.get(params["name"])
        if offered is None:
            raise InvalidParams(f"there is no tool {params['name']!r}")
        tool = offered.tool
        if tool.has_header_parameters and context.headers is not None:
            adapter.check_param_headers(context.headers, params.get("arguments", {}), tool.description["inputSchema"])
        if offered.direct:
            result = await run_tool(offered, params.get("arguments", {}), None, self._threads)
            return to_json(adapter.encode_result(call.method, result, offer.server))

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            return run_tool(offered, own.get("arguments", {}), exchange, self._threads)

        return await self._use(call, tool, tool.name, params, work, once=tool.once)

    async def _read_resource(self, call: Call, params: JsonObject) -> bytes:
        uri = params["uri"]
        found = self._offer(call.context.adapter).resource(uri)
        if found is None:
            raise ResourceNotFound(uri)
        resource, arguments = found

        def result_of(value: Any) -> JsonObject:
            return resource_result(resource, uri, value)

        def wrong(words: str) -> ResourceNotFound:
            return ResourceNotFound(uri)  # the values come from the address, so it is none of these resources

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            return handled("resource", resource, arguments, exchange, self._threads, result_of, wrong)

        return await self._use(call, resource, uri, params, work)

    async def _get_prompt(self, call: Call, params: JsonObject) -> bytes:
        prompt = self._offer(call.context.adapter).prompts.get(params["name"])
        if prompt is None:
            raise InvalidParams(f"there is no prompt {params['name']!r}")

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            arguments = own.get("arguments", {})
            return handled(
                "prompt", prompt, arguments, exchange, self._threads, lambda value: prompt_result(prompt, value)
            )

        return await self._use(call, prompt, prompt.key, params, work)

    async def _complete(self, call: Call, params: JsonObject) -> bytes:
        offer = self._offer(call.context.adapter)
        kind, typed = params["ref"]["type"], params["argument"]
        of = params["ref"]["name"] if kind == PROMPT else params["ref"]["uri"]
        completion = offer.completions.get(completion_key(kind, of, typed["name"]))
        if completion is None:
            if typed["name"] not in offer.arguments_of(kind, of):
                raise InvalidParams(f"there is nothing to complete: {of!r} has no argument {typed['name']!r}")
            return to_json(call.context.adapter.encode_result(call.method, completion_result([]), offer.server))

        def work(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            arguments: dict[str, Any] = {"value": typed["value"]}
            if completion.takes_others:
                arguments["arguments"] = own.get("context", {}).get("arguments", {})
            return handled("completion", completion, arguments, exchange, self._threads, completion_result)

        return await self._use(call, completion, of, params, work)

    async def _use(
        self, call: Call, part: Declared, target: str, params: JsonObject, work: _Work, *, once: bool = False
    ) -> bytes:
        """Run what a part is for, with everything around it, as often as it takes."""
        adapter = call.context.adapter
        values = await self._lifespans.values()

        def run(own: JsonObject, exchange: Exchange | None) -> Awaitable[JsonObject]:
            def proceed(invocation: Invocation) -> Awaitable[JsonObject]:
                return work(invocation.params, exchange)

            invocation = Invocation(call.method, target, own, call.client, call.context.principal)
            return surrounded(part, values, proceed)(invocation)

        if part.takes_exchange:
            return to_json(await self._attempts.run(call, target, params, run, asks=part.asks, once=once))
        return to_json(adapter.encode_result(call.method, await run(params, None), self._offer(adapter).server))

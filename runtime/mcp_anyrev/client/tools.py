"""The tools of a server, as far as their declarations matter for calling them.

Rule: what a tool declares is taken at its word: annotated arguments are repeated beside the call, and what it gives fits the schema that
it promises. A declaration that cannot be used keeps that one tool out of use, and no schema makes this process fetch anything.
Specification: server/tools, basic/transports/streamable-http#client-behavior
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import HeaderMismatch, InvalidAnnotation, JsonObject, header_parameters
from pydantic_core import to_json

from mcp_anyrev.client.errors import NotOffered, WrongAnswer
from mcp_anyrev.schemas import SchemaFault, validator_for_text

if TYPE_CHECKING:
    from mcp_revisions.canonical import Tool
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.results import CallToolResult

log = logging.getLogger("mcp_anyrev.client")

CALL, LIST = "tools/call", "tools/list"
STALE = HeaderMismatch.kind
"""The kind of error that says that what was repeated beside a call does not fit, as where a tool has changed since it was listed."""


class KnownTools:
    """The tools that have been listed.

    Args:
        beside: can anything be said beside a message?
    """

    def __init__(self, *, beside: bool) -> None:
        self._beside = beside
        self._known: dict[str, Tool] = {}
        self._mirrored: dict[str, JsonObject] = {}

    @property
    def mirrors(self) -> bool:
        """Is anything said beside a call?"""
        return self._beside

    def learn(self, adapter: Adapter, tools: list[Tool]) -> list[Tool]:
        """Note what was listed.

        Args:
            adapter: the revision.
            tools: all tools of the server.

        Returns:
            Those of them that can be called.
        """
        self._known, self._mirrored = {}, {}
        for tool in tools:
            if self._beside and adapter.parameter_header is not None:
                try:
                    mirrored = header_parameters(tool.input_schema)
                except InvalidAnnotation as fault:
                    log.warning(
                        "the tool %r is left out, since its input schema cannot be followed: %s", tool.name, fault
                    )
                    continue
                if mirrored:
                    self._mirrored[tool.name] = tool.input_schema
            self._known[tool.name] = tool
        return list(self._known.values())

    def beside(self, adapter: Adapter, message: JsonObject) -> Mapping[str, str]:
        """What is said beside a message."""
        if message.get("method") != CALL:
            return {}
        params = message["params"]
        schema = self._mirrored.get(params["name"])
        return {} if schema is None else adapter.param_headers(params.get("arguments", {}), schema)

    def needs_task(self, name: str) -> bool:
        """Does a tool run as a task and not otherwise, as far as it is known?"""
        tool = self._known.get(name)
        return tool is not None and tool.execution is not None and tool.execution.task_support == "required"

    def check_callable(self, name: str) -> None:
        """See that the schemas of a tool can be used, as far as it is known.

        Raises:
            NotOffered: one cannot.
        """
        tool = self._known.get(name)
        if tool is None:
            return
        for schema in (tool.input_schema, tool.output_schema):
            if schema is not None:
                try:
                    validator_for_text(to_json(schema))
                except SchemaFault as fault:
                    raise NotOffered(
                        f"the tool {name!r} is not called, since its schema cannot be used: {fault}"
                    ) from None

    def check_result(self, name: str, result: CallToolResult) -> None:
        """See that a tool gave what it promises, as far as it is known.

        Raises:
            WrongAnswer: it did not.
        """
        tool = self._known.get(name)
        if tool is None or tool.output_schema is None or result.is_error:
            return
        given: Any = result.structured_content
        if "structured_content" not in result.model_fields_set:
            raise WrongAnswer(f"the tool {name!r} promises a structured result and gives none")
        validator = validator_for_text(to_json(tool.output_schema))
        if not validator.accepts(given):
            raise WrongAnswer(
                f"the tool {name!r} gives what its output schema does not allow: {validator.faults(given)}"
            )

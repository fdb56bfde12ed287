"""What becomes of a tool on the way to a client of a revision.

Rule: asked of the adapter with the tool's own description, in the order in which a server does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, Loss

from mcp_anyrev.explaining.decisions import decision
from mcp_anyrev.explaining.notes import Note, decided, left_out

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.tools import Tool
    from mcp_anyrev.server.offers import OfferedTool, Withheld


def withheld_note(reason: Withheld, adapter: Adapter) -> Note:
    """Why a tool is not offered."""
    try:
        found = decision(adapter, reason.concern)
    except KeyError:  # it was the declaration that decided
        return Note(f"decided by {reason.concern}", reason.reason)
    return Note("not offered here", reason.reason, found)


def tool_notes(offered: OfferedTool, adapter: Adapter) -> Iterator[Note]:
    """What is changed of a tool that is offered."""
    tool, declared = offered.tool, offered.tool.description
    listed = adapter.encode_result("tools/list", {"tools": [offered.listed]}, {})["tools"][0]
    if "title" in declared and "title" not in listed:
        yield decided(adapter, "tool_title", "`title` is no member of its own")
    elsewhere = ("title", "outputSchema")
    yield from left_out({name: value for name, value in declared.items() if name not in elsewhere}, listed)
    yield from _schema_notes(tool, adapter)
    yield from _output_notes(offered, adapter, listed)
    if tool.asks:
        yield asking_note(adapter, "tools/call")


def _schema_notes(tool: Tool, adapter: Adapter) -> Iterator[Note]:
    schema = tool.description["inputSchema"]
    stripped = adapter.header_annotations(schema)
    for loss in stripped.losses:
        yield decided(adapter, "header_annotations", _said(loss), loss.why)
    for loss in adapter.input_schema(stripped.schema, tool.plain_schema).losses:
        yield decided(adapter, "input_schema", _said(loss), loss.why)


def _said(loss: Loss) -> str:
    return f"input schema at `{loss.pointer or '/'}`: {loss.what}"


def _output_notes(offered: OfferedTool, adapter: Adapter, listed: JsonObject) -> Iterator[Note]:
    schema = offered.tool.description.get("outputSchema")
    if schema is None or listed.get("outputSchema") == schema:
        return
    if "outputSchema" in listed:
        yield decided(adapter, "wraps_output", 'a result is sent as {"result": …}, and its schema wrapped', _WRAPPED)
        return
    hint = "; wrap_output=True would send it wrapped in an object" if adapter.wraps_output else ""
    what = "`outputSchema` is not published, and the result is sent as text alone"
    yield decided(adapter, "output_schema", what, f"the revision cannot publish this one{hint}")


_WRAPPED = "a structured result has to be an object, and the tool is declared with wrap_output=True"


def asking_note(adapter: Adapter, method: str) -> Note:
    """How what is asked on the way to answering a request reaches the person."""
    if not adapter.askable_methods.get(method):
        return decided(
            adapter, "askable_methods", "whoever asks gets an error instead", f"a question cannot travel with {method}"
        )
    for flag, words in _WAYS.items():
        if getattr(adapter, flag):
            return decided(adapter, flag, f"asks {words[0]}", words[1], change=flag == "asks_in_arguments")
    raise AssertionError(f"{adapter.version} asks in no way")


_WAYS = {
    "can_ask": (
        "by its result",
        "the client calls again with the answers, and the handler runs again from its beginning",
    ),
    "can_push_ask": ("on the stream of the call", "the stream stays open until the person has answered"),
    "asks_in_arguments": (
        "in the text of its result, answered by two more arguments",
        "the question and its answers pass through the model, and the handler runs again from its beginning",
    ),
}

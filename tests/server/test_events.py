"""An event is one line of data, whatever its reader takes for the end of a line.

Citations: basic/transports/streamable-http#sending-messages; the HTML standard knows three ends of a line, libraries for text know more.
"""

from __future__ import annotations

import json

import pytest
import test_http_sse as http_sse
from event_streams import posting
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_anyrev import Exchange, Registry
from mcp_anyrev.events import event, named_event
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json
from raw_client import RawClient, serving

BREAKS = "\x85\u2028\u2029\r\n\x0b\x0c\x1c\x1d\x1e"


@given(st.text(alphabet=st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(BREAKS))))
@example(BREAKS)
@example("\\u2028\\")
def test_text_of_any_kind_stays_on_its_line(text: str) -> None:
    message = {"text": text, text: [text]}
    for written in (event(to_json(message)), event(to_json(message), "s.1"), named_event("message", to_json(message))):
        lines = [line for line in written.decode().splitlines() if line.startswith("data: ")]
        assert len(lines) == 1 and len(written.decode().splitlines()) <= 4
        assert json.loads(lines[0].removeprefix("data: ")) == message


def registry() -> Registry:
    made = Registry("breaking", "1.0")

    @made.tool
    async def breaks(ex: Exchange) -> str:
        await ex.progress(1, message=BREAKS)
        return BREAKS

    return made


async def test_it_is_so_on_the_stream_of_a_call(adapter: Adapter, binding: str) -> None:
    own = {"name": "breaks", "arguments": {}}
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        params = client.adapter.declared_params(own, client.declaration)
        params["_meta"] = {**params.get("_meta", {}), "progressToken": 1}
        async with posting(client, "tools/call", params) as stream:
            text = (await stream.response.content.read()).decode()
        data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        assert json.loads(data[-1])["result"]["content"][0]["text"] == BREAKS
        assert not [line for line in text.splitlines() if line and not line.startswith(("data:", "id:", "retry:", ":"))]


@pytest.mark.parametrize("character", "\x85\u2028\u2029")
async def test_it_is_so_on_http_sse(session_adapter: Adapter, character: str) -> None:
    async with http_sse.serving(registry(), None) as url, http_sse.SseClient(url, session_adapter) as client:
        await client.shake_hands()
        assert await client.text("breaks") == BREAKS
        client.reading.cancel()
        call = {"jsonrpc": "2.0", "id": "raw", "method": "tools/call", "params": {"name": "breaks", "arguments": {}}}
        await client.post(call)
        assert character.encode() not in await client.stream.content.readuntil(b"\n\n")

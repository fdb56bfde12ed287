"""A call that cannot go on before the person has been at an address: an error of its own where there is one, words elsewhere.

Citations: client/elicitation#url-elicitation-required-error, client/elicitation#error-handling.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, UrlElicitationRequired, elicit
from mcp_anyrev.declaring.around import Invocation, Proceed
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

URL = "https://accounts.example/connect?to=files"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/call", {"name": "alone", "arguments": {}}),
    ("tools/call", {"name": "exchanging", "arguments": {}}),
    ("prompts/get", {"name": "alone"}),
    ("resources/read", {"uri": "a://b"}),
)


def registry(*, hooks: bool) -> Registry:
    made = Registry("visits", "1.0")

    async def alone() -> str:
        raise UrlElicitationRequired(elicit("Sign in to your files:", url=URL))

    @made.tool
    async def exchanging(ex: Exchange) -> str:
        raise UrlElicitationRequired(elicit("Sign in to your files:", url=URL))

    made.tool(alone)
    made.prompt(alone)
    made.resource("a://b")(alone)
    if hooks:

        @made.around
        async def see(invocation: Invocation, proceed: Proceed) -> dict[str, Any]:
            return await proceed(invocation)

    return made


@pytest.mark.parametrize("mode", ["form", "url"])
@pytest.mark.parametrize("hooks", [False, True])
async def test_an_address_to_visit_is_told(adapter: Adapter, mode: str, hooks: bool) -> None:
    code = adapter.error_codes.get("url_elicitation_required")
    async with serving(registry(hooks=hooks)) as url, RawClient(url, adapter, mode=mode) as client:
        for method, params in CALLS:
            reply = await client.call(method, params)
            if code is not None and mode == "url":
                assert reply.error["code"] == code
                (asked,) = reply.error["data"]["elicitations"]
                assert asked.pop("elicitationId")
                assert asked == {"mode": "url", "message": "Sign in to your files:", "url": URL}
            elif method == "tools/call":
                assert reply.result["isError"] and reply.text == f"Sign in to your files: {URL}"
            else:
                assert reply.error["code"] == adapter.error_codes["internal_error"]
                assert reply.error["message"] == f"Sign in to your files: {URL}"


def test_only_addresses_can_be_required() -> None:
    for questions in ((), (elicit("Go ahead?"),), (elicit("a", url=URL), elicit("b"))):
        with pytest.raises(TypeError, match="url"):
            UrlElicitationRequired(*questions)

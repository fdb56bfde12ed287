"""Every transport by every revision by every feature, in another order each time, and a client against servers that answer anything."""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Any

import pytest
from descriptions import ADAPTERS
from features import FEATURES, Told, expected, lacks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_anyrev import ClientError
from pydantic_core import to_json
from scripted import Scripted
from test_any_answer import ANSWER
from test_any_answer import call as call_over_http
from test_client_faults import BROKEN, JSON, calls
from test_client_faults import answering as answering_with
from test_every_transport import EACH, TRANSPORTS

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
STEP_SECONDS = 60


async def test_every_feature_gives_the_same_in_any_order(record_property: Any) -> None:
    seed = int(os.environ.get("SOAK_SEED", "0")) or random.randrange(2**32)
    chance, end, runs = random.Random(seed), time.monotonic() + SECONDS, 0
    while time.monotonic() < end or runs < len(EACH):
        for revision, transport in chance.sample(EACH, len(EACH)):
            adapter = ADAPTERS.by_version[revision]
            told, found = Told(), {}
            async with asyncio.timeout(STEP_SECONDS), TRANSPORTS[transport](adapter, told) as client:
                await client.initialize()
                for feature in chance.sample(FEATURES, len(FEATURES)):
                    if lacks(adapter, feature.__name__):
                        continue
                    found[feature.__name__] = await feature(client, told)
            wanted = expected(adapter)
            assert found == wanted, f"seed {seed}: {transport} {revision}"
            runs += 1
    record_property(
        "soak", f"every transport, revision and feature: {runs} runs of {len(FEATURES)} features, seed {seed}"
    )


@pytest.mark.parametrize("version", ADAPTERS.versions)
def test_whatever_comes_a_call_ends(version: str, record_property: Any) -> None:
    tried = 0

    @settings(
        max_examples=int(20 * SECONDS),
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.binary(max_size=40) | BROKEN | JSON.map(to_json), max_size=6))
    def attempt(answers: list[Any]) -> None:
        nonlocal tried
        tried += 1
        adapter = ADAPTERS.by_version[version]
        asyncio.run(asyncio.wait_for(calls(adapter, Scripted(answering_with(adapter, answers))), 5))

    attempt()
    record_property("soak", f"a client and {tried} servers that answer anything, {version}")


@pytest.mark.parametrize("version", ADAPTERS.versions)
def test_whatever_comes_over_http_a_call_ends(version: str, record_property: Any) -> None:
    tried = 0

    @settings(
        max_examples=int(4 * SECONDS),
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(ANSWER, min_size=1, max_size=5))
    def attempt(answers: list[Any]) -> None:
        nonlocal tried
        tried += 1
        found = asyncio.run(call_over_http(version, answers))
        if not isinstance(found, ClientError):
            assert found.content[0].text == "right"

    attempt()
    record_property("soak", f"a client and {tried} servers that answer anything over HTTP, {version}")

"""Fuzzing of head and body over all revisions, on both bindings: 60,000 requests each.

SOAK_SEED=7 SOAK_REQUESTS=60000 make soak
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from fuzz_run import ANSWER_SECONDS, fuzz

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "60000"))
SEED = int(os.environ.get("SOAK_SEED", time.strftime("%Y%m%d")))
MOST_GROWTH = 10 * 2**20


@pytest.mark.parametrize("binding", ["aiohttp", "asgi"])
async def test_fuzzing_for_long(binding: str, record_property: Callable[[str, object], None]) -> None:
    findings = await fuzz(binding, SEED, REQUESTS)
    record_property("soak", findings.line(binding, SEED))
    assert not findings.faults, "\n".join(findings.faults[:20])
    assert findings.slowest < ANSWER_SECONDS
    assert findings.grown < MOST_GROWTH

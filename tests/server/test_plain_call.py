"""What a plain call passes through. It is counted, so it is the same on every machine; what it costs, `make bench` measures."""

from __future__ import annotations

import collections
import importlib.util
import pathlib
from types import ModuleType

import pytest
from mcp_revisions.protocol import Adapter

MOST_CALLS = 40
MOST_OF_REVISION = 30
"""What a revision needs checked and left out is its own matter, so that has a bound of its own."""
COUNTER = pathlib.Path(__file__).parents[2] / "benchmarks" / "python_calls.py"


@pytest.fixture(scope="module")
def counter() -> ModuleType:
    specification = importlib.util.spec_from_file_location("python_calls", COUNTER)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


async def test_a_plain_call_passes_through_few_functions(adapter: Adapter, counter: ModuleType) -> None:
    counted: collections.Counter[str] = await counter.calls(adapter)
    own = sum(times for place, times in counted.items() if place.startswith("runtime/mcp_anyrev/"))
    places = "\n".join(f"{times} {place}" for place, times in counted.items())
    assert 20 < own < MOST_CALLS, places
    assert 10 < counted.total() - own < MOST_OF_REVISION, places
    assert not [place for place in counted if "<lambda>" in place], "a lambda only defers an argument"

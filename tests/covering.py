"""How much of much `make test` tries: of many combinations so many that each value is tried, of a property a part of the examples.

Rule: `make soak` tries all of it. Combinations that are left to it are there, and marked.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import hypothesis
import pytest


def in_turn(*values: Sequence[Any]) -> list[Any]:
    """The combinations of some lists of values, as sets of parameters.

    Args:
        values: the lists. Each value of each of them is in some combination that is not marked as `thorough`.
    """
    most = max(map(len, values))
    tried = {tuple(number % len(each) for each in values) for number in range(most)}
    return [
        pytest.param(
            *(each[place] for each, place in zip(values, places, strict=True)),
            marks=() if places in tried else pytest.mark.thorough,
        )
        for places in itertools.product(*(range(len(each)) for each in values))
    ]


def examples(number: int) -> int:
    """How many examples a property is tried on: so many in `make soak`, and a fourth of them in `make test`."""
    return number if hypothesis.settings.get_current_profile_name() == "random" else max(10, number // 4)

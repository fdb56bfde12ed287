"""Every skeleton, rendered as for real and laid out not at all: what it reads and was not given is found before anything is generated.

Rule: it takes a tenth of a second, so that lint can do it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..reading.located import Problem, SpecificationError
from ..specification.loading import Specification
from .adapter import adapter_text
from .package import package_text, selection_text
from .protocol import protocol_text


def skeleton_faults(specification: Specification) -> tuple[Problem, ...]:
    """What fails in a skeleton, each fault once."""
    found: dict[Problem, None] = {}
    texts: list[Callable[[Specification], str]] = [package_text, selection_text, protocol_text]
    texts += [functools.partial(adapter_text, revision=revision) for revision in specification.revisions]
    for render in texts:
        try:
            render(specification)
        except SpecificationError as error:
            found |= dict.fromkeys(error.problems)
    return tuple(found)

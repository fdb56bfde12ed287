"""Writes `v*/adapter.py`: one revision's answers, as one class.

Rule: the text of an adapter depends on its own revision's answers and on no other's. It depends on all schemas, since what a revision
lacks is what another has.
"""

from __future__ import annotations

import collections.abc

from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.concerns import Area
from ..rendering.formatting import python_output
from ..rendering.output import Output
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from ..templates.macros import make_environment
from ..templates.skeletons import ADAPTER, MESSAGES, PROJECTION, render_skeleton
from .decisions import decisions
from .messages import messages


def write_adapter(specification: Specification, revision: Revision) -> list[Output]:
    """The adapter of one revision."""
    inputs = specification.inputs_under(
        REVISIONS,
        "specs/schemas/",
        CORRECTIONS,
        VOCABULARY,
        f"{INVENTORY}/",
        *(f"templates/{name}" for name in (ADAPTER, MESSAGES, PROJECTION)),
        "templates/concerns/",
    )
    path = f"generated/mcp_revisions/{revision.module}/adapter.py"
    return [python_output(path, adapter_text(specification, revision), inputs)]


def adapter_text(specification: Specification, revision: Revision) -> str:
    """The adapter of one revision as the skeleton words it, before it is laid out."""
    outline = decisions(specification.areas, revision.version, make_environment(specification.root))
    projection = specification.projections[revision.version]
    return render_skeleton(
        specification.root,
        ADAPTER,
        version=revision.version,
        module=revision.module,
        flags=outline.flags,
        sections=outline.sections,
        projection=projection,
        messages=messages(specification.schemas, revision.version, projection),
        adjusted=_adjusted(specification.areas),
    )


def _adjusted(areas: collections.abc.Iterable[Area]) -> dict[str, tuple[str, ...]]:
    """The methods that adjust objects of a type before anything is left out, in the order of the inventory, by type."""
    adjusted: dict[str, tuple[str, ...]] = {}
    for concern in (concern for area in areas for concern in area.concerns):
        if concern.adjusts:
            adjusted[concern.adjusts] = (*adjusted.get(concern.adjusts, ()), concern.name)
    return adjusted

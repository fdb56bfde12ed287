"""Writes `protocol.py`: what every adapter has, with the questions that the adapters answer.

Rule: it is made of the questions alone, so no answer changes it.
"""

from __future__ import annotations

from ..inventory.concerns import FOLDER as INVENTORY
from ..rendering.formatting import python_output
from ..rendering.output import Output
from ..specification.loading import Specification
from ..templates.skeletons import PROTOCOL, render_skeleton
from .decisions import questions


def write_protocol(specification: Specification) -> list[Output]:
    """The protocol of the adapters."""
    inputs = specification.inputs_under(f"{INVENTORY}/", f"templates/{PROTOCOL}")
    return [python_output("generated/mcp_revisions/protocol.py", protocol_text(specification), inputs)]


def protocol_text(specification: Specification) -> str:
    """The protocol, before it is laid out."""
    outline = questions(specification.areas)
    return render_skeleton(specification.root, PROTOCOL, flags=outline.flags, sections=outline.sections)

"""Writes `protocol.py`: what every adapter has, with the questions that the adapters answer.

Rule: it is made of the questions alone, so no answer changes it.
"""

from __future__ import annotations

from ..inventory.concerns import FOLDER as INVENTORY
from ..rendering.formatting import python_output
from ..rendering.output import Output
from ..specification.loading import Specification
from ..templates.skeletons import render_skeleton
from .decisions import questions

SKELETON = "protocol.py.jinja"


def write_protocol(specification: Specification) -> list[Output]:
    """The protocol of the adapters."""
    outline = questions(specification.areas)
    text = render_skeleton(specification.root, SKELETON, flags=outline.flags, sections=outline.sections)
    inputs = specification.inputs_under(f"{INVENTORY}/", f"templates/{SKELETON}")
    return [python_output("generated/mcp_revisions/protocol.py", text, inputs)]

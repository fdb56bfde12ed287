"""Writes the package's `__init__.py` and `selection.py`: the revisions, and the rules by which one of them answers; and `py.typed`.

Rule: the order of the revisions is that of `revisions.yaml`, reversed: newest first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.selection import PATH as SELECTION
from ..inventory.selection import Rule
from ..rendering.formatting import python_output
from ..rendering.output import Output
from ..schemas.revisions import PATH as REVISIONS
from ..specification.loading import Specification
from ..specification.selection import header_names
from ..templates.skeletons import render_skeleton

PACKAGE = "package.py.jinja"
SET = "selection.py.jinja"
RULES = "rules.py.jinja"


def write_package(specification: Specification) -> list[Output]:
    """The package itself."""
    revisions = tuple(reversed(specification.revisions))
    made_of = specification.inputs_under(REVISIONS, f"templates/{PACKAGE}")
    text = render_skeleton(specification.root, PACKAGE, revisions=revisions)
    return [
        python_output("generated/mcp_revisions/__init__.py", text, made_of),
        # Being there is all that this file says, so it has no header.
        Output("generated/mcp_revisions/py.typed", "", ()),
    ]


def write_selection(specification: Specification) -> list[Output]:
    """The set of adapters, with the rules by which one of them answers."""
    # Written out, so that selecting one revision imports no other.
    holding = {
        concern.name: [version for version, answer in concern.answers.items() if answer.value]
        for area in specification.areas
        for concern in area.concerns
        if concern.flag
    }
    text = render_skeleton(
        specification.root,
        SET,
        revisions=tuple(reversed(specification.revisions)),
        holding=holding,
        rules={rule.name: rule for rule in specification.selection},
        constants={rule.name: dict(_constants(rule, specification)) for rule in specification.selection},
    )
    inputs = specification.inputs_under(REVISIONS, SELECTION, f"{INVENTORY}/", f"templates/{SET}", f"templates/{RULES}")
    return [python_output("generated/mcp_revisions/selection.py", text, inputs)]


def _constants(rule: Rule, specification: Specification) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """What a rule compares with; in the place of a concern the headers that revisions answer it with."""
    for name, value in rule.constants.items():
        yield name, header_names(specification.areas, value) if name == "header" else value

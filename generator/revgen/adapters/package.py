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
from ..templates.skeletons import PACKAGE, RULES, render_skeleton
from ..templates.skeletons import SELECTION as SKELETON


def write_package(specification: Specification) -> list[Output]:
    """The package itself."""
    made_of = specification.inputs_under(REVISIONS, f"templates/{PACKAGE}")
    return [
        python_output("generated/mcp_revisions/__init__.py", package_text(specification), made_of),
        # Being there is all that this file says, so it has no header.
        Output("generated/mcp_revisions/py.typed", "", ()),
    ]


def package_text(specification: Specification) -> str:
    """The package, before it is laid out."""
    return render_skeleton(specification.root, PACKAGE, revisions=tuple(reversed(specification.revisions)))


def write_selection(specification: Specification) -> list[Output]:
    """The set of adapters, with the rules by which one of them answers."""
    inputs = specification.inputs_under(
        REVISIONS, SELECTION, f"{INVENTORY}/", f"templates/{SKELETON}", f"templates/{RULES}"
    )
    return [python_output("generated/mcp_revisions/selection.py", selection_text(specification), inputs)]


def selection_text(specification: Specification) -> str:
    """The set of adapters, before it is laid out."""
    # Written out, so that selecting one revision imports no other.
    holding = {
        concern.name: [version for version, answer in concern.answers.items() if answer.value]
        for area in specification.areas
        for concern in area.concerns
        if concern.flag
    }
    return render_skeleton(
        specification.root,
        SKELETON,
        revisions=tuple(reversed(specification.revisions)),
        holding=holding,
        rules={rule.name: rule for rule in specification.selection},
        constants={rule.name: dict(_constants(rule, specification)) for rule in specification.selection},
    )


def _constants(rule: Rule, specification: Specification) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """What a rule compares with; in the place of a concern the headers that revisions answer it with."""
    for name, value in rule.constants.items():
        yield name, header_names(specification.areas, value) if name == "header" else value

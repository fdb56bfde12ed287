"""Turns a projection into a class that runs, the way an adapter gets it."""

from __future__ import annotations

import functools
import itertools
import pathlib
import textwrap
import types
from collections.abc import Mapping
from typing import Any

import mcp_contract
from revgen.projection.compare import Projection
from revgen.templates.macros import make_environment

ROOT = pathlib.Path(__file__).parents[2]

_MODULE = """\
from __future__ import annotations
{constants}
class Adapter:
    pass

{functions}
"""


def source(projection: Projection) -> str:
    """The Python of a projection, as the template words it."""
    template = _template()
    functions = textwrap.indent(template.leaves(projection, {}) + template.functions(projection, {}), "    ")
    return _MODULE.format(constants=template.constants(projection, {}), functions=functions)


@functools.cache
def _template() -> Any:
    return make_environment(ROOT).get_template("projection.py.jinja").module


def running(code: str, answers: Mapping[str, Any] | None = None) -> Any:
    """An object with the functions of such a text, and with answers of the inventory as its attributes."""
    namespace: dict[str, Any] = {"chain": itertools.chain, "contract": mcp_contract}
    exec(compile(code, "adapter.py", "exec"), namespace)
    adapter = namespace["Adapter"]()
    for name, answer in (answers or {}).items():
        setattr(adapter, name, types.MethodType(answer, adapter) if callable(answer) else answer)
    return adapter


def emitted(projection: Projection, answers: Mapping[str, Any] | None = None) -> Any:
    """The same for a projection."""
    return running(source(projection), answers)

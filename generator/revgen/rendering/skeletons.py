"""Renders a skeleton: a template that becomes one generated file.

Rule: a skeleton loops over what it is given and decides nothing. Where it fails, the complaint says at which of its lines.
"""

from __future__ import annotations

import pathlib
import traceback
from typing import Any

import jinja2

from ..reading.located import Place, Problem, SpecificationError
from ..templates.macros import FOLDER, make_environment


def render_skeleton(root: pathlib.Path, name: str, **context: Any) -> str:
    """The text that a skeleton gives.

    Args:
        root: the folder that holds `templates/`.
        name: the skeleton, relative to that folder.
        context: everything that it may read.

    Raises:
        SpecificationError: it cannot be read, is no template, or reads what it was not given.
    """
    try:
        return make_environment(root).get_template(name).render(context)
    except jinja2.TemplateNotFound as error:
        raise _failure(name, 1, "cannot be read: there is no such template") from error
    except jinja2.TemplateSyntaxError as error:
        raise _failure(error.name or name, error.lineno, f"not a template: {error.message}") from error
    except jinja2.TemplateError as error:
        raise _failure(name, _line(error, root / FOLDER / name), f"cannot be rendered: {error.message}") from error


def _line(error: Exception, path: pathlib.Path) -> int:
    """The line of a template at which rendering failed; Jinja puts it into the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if pathlib.Path(frame.filename) == path and frame.lineno]
    return lines[-1] if lines else 1


def _failure(name: str, line: int, message: str) -> SpecificationError:
    return SpecificationError([Problem(Place(f"{FOLDER}/{name}", line, 1), message)])

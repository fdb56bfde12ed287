"""Renders a skeleton: a template that becomes one generated file.

Rule: a skeleton loops over what it is given and decides nothing. Where it fails, the complaint says at which of its lines.
"""

from __future__ import annotations

import pathlib
import traceback
from typing import Any

import jinja2

from ..reading.located import Place, Problem, SpecificationError
from .macros import FOLDER, make_environment

ADAPTER = "adapter.py.jinja"
MESSAGES, PROJECTION = "messages.py.jinja", "projection.py.jinja"
"""What the skeleton of adapters imports."""
PACKAGE = "package.py.jinja"
PROTOCOL = "protocol.py.jinja"
SELECTION = "selection.py.jinja"
RULES = "rules.py.jinja"
"""What that of the selection imports."""
SKELETONS = (ADAPTER, MESSAGES, PACKAGE, PROJECTION, PROTOCOL, RULES, SELECTION)


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
    except Exception as error:  # whatever an expression of a template may raise
        raise failure(error, root, f"{FOLDER}/{name}") from error


def failure(error: Exception, root: pathlib.Path, path: str) -> SpecificationError:
    """What went wrong in a template, at the line of the template at which it did; Jinja puts that into the traceback.

    Args:
        error: what was raised while a template was rendered.
        root: the folder that holds `templates/`.
        path: the template that was rendered, for an error that happened in none of its lines.
    """
    frames = traceback.extract_tb(error.__traceback__)
    within = [frame for frame in frames if pathlib.Path(frame.filename).is_relative_to(root / FOLDER) and frame.lineno]
    if within:
        path = pathlib.Path(within[-1].filename).relative_to(root).as_posix()
    message = error.message if isinstance(error, jinja2.TemplateError) else f"{type(error).__name__}: {error}"
    place = Place(path, within[-1].lineno or 1 if within else 1, 1)
    return SpecificationError([Problem(place, f"cannot be rendered: {message}")])


def _failure(name: str, line: int, message: str) -> SpecificationError:
    return SpecificationError([Problem(Place(f"{FOLDER}/{name}", line, 1), message)])

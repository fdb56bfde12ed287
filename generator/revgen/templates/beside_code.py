"""Templates that stand beside the code: how the tool words what it shows, and what is the same whatever is in `templates/`.

Rule: Python computes the data, the template words it. It is no input, so a root has none of its own; what it reads and was not given is
the fault of the tool.
"""

from __future__ import annotations

import functools
import html
import pathlib
from typing import Any

import jinja2
import markupsafe

SUFFIX = ".jinja"


def render_beside(module: str, name: str, **context: Any) -> str:
    """The text that a template gives; escaped where it is HTML.

    Args:
        module: the file of the module that it stands beside.
        name: its name, without the suffix: `matrix.html`.
        context: everything that it may read.
    """
    environment = _environment(pathlib.Path(module).parent, name.endswith(".html"))
    return environment.get_template(f"{name}{SUFFIX}").render(context)


@functools.cache
def _environment(folder: pathlib.Path, is_html: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=is_html,
        finalize=_escaped if is_html else None,
    )
    # As with the other templates: nothing can be read that was not given.
    environment.globals.clear()
    environment.filters["python"] = repr
    return environment


def _escaped(value: Any) -> markupsafe.Markup:
    """A value as the standard library escapes it, so that quotes look alike wherever HTML is written."""
    return value if isinstance(value, markupsafe.Markup) else markupsafe.Markup(html.escape(str(value)))

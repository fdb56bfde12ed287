"""The templates of models, which datamodel-code-generator renders: what they may read, seen before it runs.

Rule: it lets unknown names pass as empty text. They have what its own templates of the same name have, and what is prepared for ours.
"""

from __future__ import annotations

import importlib.util
import pathlib

import jinja2
import jinja2.meta
from jinja2 import nodes

from ..reading.located import Place, Problems
from ..reading.models import near
from .macros import FOLDER

MODELS = "models"
TEMPLATES = (f"{MODELS}/TypeAliasType.jinja2", f"{MODELS}/pydantic_v2/BaseModel.jinja2")
PREPARED = ("closed", "docstring", "member_docstrings", "nullable", "plain_alias", "wire_names")
"""What a template of ours gets besides, for each class."""

_LIBRARY = "datamodel_code_generator"


def check_model_templates(root: pathlib.Path, environment: jinja2.Environment, problems: Problems) -> None:
    """Complain about templates that are missing or none, and about names that nothing gives them.

    Args:
        root: the folder that holds `templates/`.
        environment: from `macros.make_environment`, which reads them.
        problems: receives faults, at their line.
    """
    if not (root / FOLDER / MODELS).is_dir():
        return  # what models look like is the library's business then
    for name in TEMPLATES:
        path = f"{FOLDER}/{name}"
        try:
            template = environment.parse((root / path).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
            continue
        except jinja2.TemplateSyntaxError as error:
            problems.add(Place(path, error.lineno, 1), f"not a template: {error.message}")
            continue
        set_here = {node.name for node in template.find_all(nodes.Name) if node.ctx == "store"}
        try:
            read = jinja2.meta.find_undeclared_variables(template)
        except jinja2.TemplateAssertionError as error:  # a filter or a test that there is not
            problems.add(Place(path, error.lineno, 1), f"not a template: {error.message}")
            continue
        known = {*PREPARED, *set_here, *_given(name.removeprefix(f"{MODELS}/"), environment)}
        for unknown in sorted(read - known):
            line = next(node.lineno for node in template.find_all(nodes.Name) if node.name == unknown)
            message = (
                f"reads '{unknown}', which nothing gives it{near(unknown, known)}; allowed: {', '.join(sorted(known))}"
            )
            problems.add(Place(path, line, 1), message)


def _given(name: str, environment: jinja2.Environment) -> set[str]:
    """What the library's own template of that name reads; the library itself is not imported, which takes long."""
    found = importlib.util.find_spec(_LIBRARY)
    for folder in found.submodule_search_locations or () if found is not None else ():
        file = pathlib.Path(folder, "model", "template", name)
        if file.is_file():
            return jinja2.meta.find_undeclared_variables(environment.parse(file.read_text("utf-8")))
    return set()

"""The typed messages of one schema as Python text, written by datamodel-code-generator from our templates.

Rule: rendering is pure: a schema and a few texts in, a text out. `preparation` has decided everything before the generator
runs, and afterwards the text is only trimmed, put in order and laid out.
"""

from __future__ import annotations

import ast
import json
import keyword
import pathlib
import pkgutil
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping

from datamodel_code_generator import LiteralType, PythonVersion, generate
from datamodel_code_generator.enums import DataModelType, InputFileType, StrictTypes
from datamodel_code_generator.format import Formatter

from ..rendering.formatting import laid_out
from ..schemas.normal_form import Schema
from ..templates.beside_code import render_beside
from ..templates.macros import LINE_LENGTH
from .docstrings import Docstrings
from .preparation import Preparation
from .python_names import class_names

BASE_CLASS = "mcp_contract.model.WireModel"
"""The base of every model where the caller names no other one."""

_IMPORTS = (
    "mcp_contract.model.Maybe",
    "mcp_contract.model.OneOf",
    "mcp_contract.model.wire",
    "typing.Annotated",
    "typing.Any",
    "typing.Literal",
    "typing.TypeAlias",
)
"""What our templates use beside what the generator finds in annotations."""


def render_models(
    schema: Schema,
    *,
    templates: pathlib.Path,
    header: str,
    docstring: str,
    docstrings: Docstrings,
    base_class: str = BASE_CLASS,
) -> str:
    """The text of a module that has a class or a type for every definition of a schema.

    Args:
        schema: a schema in normal form (`schemas.normal_form.normalise`), corrections applied.
        templates: the folder of our templates for datamodel-code-generator.
        header: the comment lines that the module starts with.
        docstring: what the module says of itself, without quotes.
        docstrings: what is said of each definition and member.
        base_class: the dotted name of the class that all models inherit from.

    Raises:
        ValueError: when two members of one definition would have the same Python name, or a definition that of the base class.
    """
    if (base := base_class.rsplit(".", 1)[-1]) in schema["$defs"]:
        raise ValueError(f"'{base}' is a definition and the name of the class that all models inherit from")
    prepared = Preparation(schema, frozenset(dir(pkgutil.resolve_name(base_class))), docstrings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        written = generate(
            json.dumps({"$schema": schema["$schema"], "$defs": prepared.definitions}, sort_keys=True),
            input_file_type=InputFileType.JsonSchema,
            output=None,
            output_model_type=DataModelType.PydanticV2BaseModel,
            target_python_version=PythonVersion.PY_311,
            custom_template_dir=templates,
            custom_file_header=f'{header}\n"""{docstring}"""\n',
            custom_class_name_generator=lambda name: name,
            additional_imports=list(_IMPORTS),
            base_class=base_class,
            disable_timestamp=True,
            enum_field_as_literal=LiteralType.All,
            extra_template_data=prepared.template_data,
            field_constraints=True,
            formatters=[Formatter.BUILTIN],
            # Else it is what a pyproject.toml above the current folder says.
            builtin_format_line_length=LINE_LENGTH,
            skip_root_model=True,
            strict_types=[StrictTypes.str, StrictTypes.int, StrictTypes.bool],
            use_annotated=True,
            use_double_quotes=True,
            use_standard_collections=True,
            use_type_alias=True,
            use_union_operator=True,
        )
    assert isinstance(written, str)
    return laid_out(_with_constants(_in_order(_trimmed(written, prepared.constants)), prepared.constants))


def render_package(
    definitions: Iterable[str],
    *,
    header: str,
    docstring: str,
    attributes: Mapping[str, str],
) -> str:
    """The text of a package's `__init__`: every definition as an attribute under its published name, imported when asked for.

    Args:
        definitions: the names of the definitions that the package's module `models` has.
        header: the comment lines that the module starts with.
        docstring: what the package says of itself, without quotes.
        attributes: further lazy attributes, name → submodule (`{"Adapter": "adapter"}`).

    Raises:
        ValueError: when a definition has the name of a further attribute.
    """
    names = class_names(definitions)
    if clash := sorted(names.keys() & attributes.keys()):
        raise ValueError(f"'{clash[0]}' is a definition, so the package cannot have another attribute of that name")
    elsewhere = {name: (module, name) for name, module in attributes.items()}
    elsewhere |= {name: ("models", written) for name, written in names.items() if name != written}
    text = render_beside(
        __file__,
        "package.py",
        header=header,
        docstring=docstring,
        attributes=sorted(attributes.items()),
        definitions=[(written, name if _is_usable(name) else written) for name, written in names.items()],
        exported=sorted([*names, *attributes]),
        elsewhere=dict(sorted(elsewhere.items())),
    )
    return laid_out(text)


def _is_usable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _trimmed(text: str, constants: Mapping[str, str]) -> str:
    """Without imports that our templates have no use for, and without `model_rebuild()` calls: models build on first use."""
    tree = ast.parse(text)
    written = [ast.parse(annotation) for annotation in constants.values()]
    used = {node.id for part in (tree, *written) for node in ast.walk(part) if isinstance(node, ast.Name)}
    lines = text.splitlines()
    for statement in reversed(tree.body):
        kept = None
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            names = [alias.name for alias in statement.names if alias.name in used - constants.keys()]
            kept = [f"from {statement.module} import {', '.join(names)}"] if names else []
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            kept = []
        if kept is not None:
            lines[statement.lineno - 1 : statement.end_lineno] = kept
    return "\n".join(lines) + "\n"


def _with_constants(text: str, constants: Mapping[str, str]) -> str:
    """With annotations in place of the names that stand for constants, since the generator has no way to write them."""
    return re.sub("|".join(constants), lambda found: constants[found[0]], text) if constants else text


def _in_order(text: str) -> str:
    """By name, but what is referred to goes before: pydantic then knows each class at once, and a new one moves no other that is unconcerned."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    first = next((statement.lineno for statement in tree.body if _defined(statement)), len(lines) + 1)
    blocks: dict[str, str] = {}
    refers: dict[str, set[str]] = {}
    name = None
    for statement in tree.body:
        # What stands between two statements is blank.
        source = "".join(lines[statement.lineno - 1 : statement.end_lineno])
        if isinstance(statement, ast.Expr) and name is not None:
            blocks[name] += source
            continue
        name = _defined(statement)
        if name is not None:
            blocks[name] = source
            refers[name] = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return "".join([*lines[: first - 1], *(blocks[name] for name in _referred_first(refers))])


def _defined(statement: ast.stmt) -> str | None:
    """The class or type that a statement defines."""
    if isinstance(statement, ast.ClassDef):
        return statement.name
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    target = statement.target if isinstance(statement, ast.AnnAssign) else target
    return target.id if isinstance(target, ast.Name) else None


def _referred_first(refers: Mapping[str, set[str]]) -> Iterator[str]:
    """All names, each once: by name, but behind those that it refers to."""
    begun: set[str] = set()

    def visit(name: str) -> Iterator[str]:
        if name not in begun:
            begun.add(name)
            for other in sorted(refers[name] & refers.keys()):
                yield from visit(other)
            yield name

    for name in sorted(refers):
        yield from visit(name)

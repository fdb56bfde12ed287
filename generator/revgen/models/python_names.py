"""What definitions and members are called in Python.

Rule: a name follows from the wire's name and from nothing else in the schema but its neighbours, so that it is the same in every
revision; what Python or pydantic needs for itself is avoided by an underscore at the end.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from ..schemas.shapes import snake_case

IMPORTED = frozenset(
    {"Annotated", "Any", "ConfigDict", "Field", "Forbidden", "Literal", "Maybe", "Number", "OneOf", "Optional"}
    | {"StrictBool", "StrictInt", "StrictStr", "TypeAlias", "TypeAliasType", "Union", "wire"}
)
"""What a module of models may import."""

_USED_AS_TYPES = frozenset({"bool", "dict", "float", "int", "list", "object", "str"})
"""Names that annotations use: a member of that name would hide them from the annotations after it."""


def class_names(definitions: Iterable[str]) -> dict[str, str]:
    """For every definition the name of its class or type in the module of models.

    It is the definition's own one, but `<name>Definition` where the module imports that name, or where Python has it for itself, and `_`
    stands for what a Python name cannot have; the package gives such a definition its published name back.

    Raises:
        ValueError: when two definitions would have the same name.
    """
    names = {}
    for name in sorted(definitions):
        written = re.sub(r"\W", "_", name)
        avoid = written in IMPORTED or keyword.iskeyword(written) or not written.isidentifier()
        names[name] = f"{'' if written.isidentifier() else '_'}{written}{'Definition' if avoid else ''}"
    for written in names.values():
        same = [repr(name) for name, known in names.items() if known == written]
        if len(same) > 1:
            raise ValueError(f"the definitions {' and '.join(same)} would both be '{written}' in Python")
    return names


def member_names(definition: str, members: Iterable[str], taken: frozenset[str]) -> dict[str, str]:
    """The Python name of every member of a definition, by its wire name.

    Args:
        definition: what a complaint names.
        members: the wire names.
        taken: names that the base class has.

    Raises:
        ValueError: when two members would have the same name.
    """
    short = {wire: snake(wire.rsplit("/", 1)[-1]) for wire in sorted(members)}
    shorts = list(short.values())
    names: dict[str, str] = {}
    for wire, name in short.items():
        # Two keys that differ only before the slash, or one that has a slash and one that has not, keep what tells them apart.
        full = snake(wire) if shorts.count(name) > 1 else name
        avoid = full in taken or full in _USED_AS_TYPES or full in IMPORTED or keyword.iskeyword(full)
        names[wire] = f"{full}_" if avoid else full
    for name in names.values():
        same = [repr(wire) for wire, python in names.items() if python == name]
        if len(same) > 1:
            raise ValueError(f"{definition}: the members {' and '.join(same)} would both be '{name}' in Python")
    return names


def snake(wire: str) -> str:
    """A wire name in Python's spelling: `mimeType` → `mime_type`, `_meta` → `meta`."""
    name = re.sub(r"[^a-z0-9]+", "_", snake_case(wire)).strip("_")
    return name if name[:1].isalpha() else f"member_{name}".rstrip("_")

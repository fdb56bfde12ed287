"""The selection, held against what its rules name: their macros, the revisions, the methods, the headers.

Rule: a rule and its macro have one name and the same constants. What a constant means is said by its own name.
"""

from __future__ import annotations

import pathlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import jinja2
from jinja2 import nodes

from ..inventory.concerns import Area
from ..inventory.selection import Rule
from ..reading.located import Place, Problems
from ..reading.models import near, without_meant
from ..schemas.facts import Facts, read_facts
from ..templates.macros import FOLDER
from ..templates.skeletons import RULES


def header_names(areas: Iterable[Area], concern: str) -> tuple[str, ...]:
    """The names, in lower case and in order, that revisions answer a concern about a header with."""
    named = (one for area in areas for one in area.concerns if one.name == concern)
    values = {answer.value.lower() for one in named for answer in one.answers.values() if isinstance(answer.value, str)}
    return tuple(sorted(values))


def check_selection(
    root: pathlib.Path,
    rules: Sequence[Rule],
    areas: Sequence[Area],
    schemas: Mapping[str, Mapping[str, Any]],
    environment: jinja2.Environment,
    removed: Sequence[str],
    problems: Problems,
) -> None:
    """Complain about rules without a macro, macros without a rule, and constants that name nothing.

    Args:
        root: the folder that holds `templates/`.
        rules: the rules, without problems of their own.
        areas: the inventory.
        schemas: the corrected schema of each revision.
        environment: from `macros.make_environment`.
        removed: revisions that may come back. Where there are any, what nothing knows is a mark: it may be theirs, and the rule selects
            nothing until they are back.
        problems: receives faults, at their place.
    """
    facts = [read_facts(schema) for schema in schemas.values()]
    known: dict[str, tuple[str, Collection[str]]] = {
        "header": (
            "a concern that names a header",
            [one.name for area in areas for one in area.concerns if one.names == "header"],
        ),
        "key": ("a key of `_meta` in any schema", {key for one in facts for key in one.meta_keys}),
        "member": ("a member of any params", _members(facts)),
        "method": ("a request of a client in any schema", {method for one in facts for method in one.requests}),
        "version": ("a revision", list(schemas)),
    }
    macros = _macros(root, environment)
    for rule in rules:
        if macros and rule.name not in macros:
            problems.add(rule.place, f"rule '{rule.name}' has no macro in {FOLDER}/{RULES}{_near(rule.name, macros)}")
        macro = macros.get(rule.name)
        expected = list(rule.constants) if macro is None else [argument.name for argument in macro.args]
        for name in without_meant([name for name in expected if name not in rule.constants], rule.constants, expected):
            problems.add(rule.place, f"rule '{rule.name}' does not give '{name}'; constants: {', '.join(expected)}")
        for name, value in rule.constants.items():
            if name not in expected or name not in known:
                allowed = ", ".join(expected) or "none"
                problems.add(value.place, f"'{name}' is not a constant of rule '{rule.name}'; constants: {allowed}")
            elif value not in known[name][1]:
                what = f"rule '{rule.name}' compares with '{value}', which is not {known[name][0]}"
                complain = problems.mark if removed and name != "header" else problems.add
                complain(value.place, f"{what}{_near(value, known[name][1])}")
    names = [rule.name for rule in rules]
    for name in without_meant([name for name in macros if name not in names], names, macros):
        place = Place(f"{FOLDER}/{RULES}", macros[name].lineno, 1)
        problems.add(place, f"macro '{name}' is of no rule; rules: {', '.join(names)}")


def _macros(root: pathlib.Path, environment: jinja2.Environment) -> dict[str, nodes.Macro]:
    """The macros of rules by name, without those that help others; none where the file is missing or no template."""
    try:
        template = environment.parse((root / FOLDER / RULES).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, jinja2.TemplateSyntaxError):
        return {}
    found = {node.name: node for node in template.body if isinstance(node, nodes.Macro)}
    return {name: macro for name, macro in found.items() if not name.startswith("_")}


def _members(facts: Iterable[Facts]) -> set[str]:
    """The members that the params of requests have in any schema."""
    return {
        member for one in facts for method in one.requests.values() for member in one.members_of(method.params or "")
    }


def _near(name: str, known: Collection[str]) -> str:
    return near(name, known) or f"; known: {', '.join(sorted(known)[:9])}"

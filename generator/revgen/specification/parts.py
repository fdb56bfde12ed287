"""What concerns fill, replace and adjust, held against the canonical vocabulary.

Rule: what is named must be there, be of the kind that the part is for, and have one concern; and the method must take and give what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..inventory.concerns import Concern
from ..reading.located import Place, Problems
from ..reading.models import near
from ..schemas.shapes import Definitions, references, resolved

_VALUE = ("Json) -> Json", "list[JsonObject]) -> Json")
_FORMS: dict[tuple[str, bool], tuple[str, ...]] = {
    ("adjusts", True): ("JsonObject) -> JsonObject",),
    ("replaces", True): ("JsonObject) -> list[JsonObject]",),
    ("replaces", False): _VALUE,
    ("fills", True): (),
    ("fills", False): (),
}
"""What a method may take and give that says what is sent: by what it does, and whether that is done with objects."""


def parts_of(concern: Concern) -> list[tuple[str, str]]:
    """How a concern takes part in leaving out, and of what."""
    parts = (("fills", concern.fills), ("replaces", concern.replaces), ("adjusts", concern.adjusts))
    return [(part, target) for part, target in parts if target]


def check_parts(
    concerns: Iterable[Concern], definitions: Definitions, removed: bool, problems: Problems
) -> dict[str, str]:
    """Complain about concerns that take part in leaving out what there is not, or in a way that does not go with it.

    Args:
        concerns: all of them.
        definitions: those of the canonical vocabulary.
        removed: whether revisions may come back. What nothing knows is a mark then, since it may be theirs.
        problems: receives what is wrong, at the place of the part, or of the signature.

    Returns:
        What was named where something is wrong, with the part that was meant.
    """
    wrong: dict[str, str] = {}
    for concern in concerns:
        for part, target in parts_of(concern):
            is_object = _is_object(target.rpartition(".")[2], definitions)
            forms = _FORMS[part, is_object] if part != "adjusts" else _FORMS["adjusts", True]
            complain: Callable[[Place, str], None] = problems.add
            place, message = concern.place_of(part), ""
            if not _names_something(target, definitions, is_member=part == "fills"):
                complain = problems.mark if removed else problems.add
                message = f"'{target}' is not in the canonical vocabulary{_near(target, definitions)}"
            elif part == "adjusts" and not _is_object(target, definitions):
                message = f"'{target}' is no type of objects; allowed: a type of the vocabulary that has members"
            elif forms and _form(concern.signature) not in forms:
                place = concern.place_of("signature")
                allowed = " or ".join(f"(self, name: {form}" for form in forms)
                message = f"'{concern.name}' {part} '{target}'; allowed for that, with any name: {allowed}"
            if message:
                complain(place, message)
                wrong[target] = part
    return wrong


def _names_something(target: str, definitions: Definitions, *, is_member: bool) -> bool:
    """Whether there is such a member, type, or union with such a branch."""
    owner, _, last = target.rpartition(".")
    if is_member and not owner:
        return any(last in node.get("properties", {}) for node in definitions.values())
    if not owner:
        return last in definitions
    node = definitions.get(owner, {})
    return last in resolved(node, definitions).get("properties", {}) or last in set(references(node))


def _form(signature: str) -> str:
    """What a method takes and gives, without the name of what it takes."""
    return re.sub(r"^\(self, \w+: ", "", signature)


def _is_object(target: str, definitions: Definitions) -> bool:
    return "properties" in definitions.get(target, {})


def _near(target: str, definitions: Definitions) -> str:
    members: set[Any] = {name for node in definitions.values() for name in node.get("properties", {})}
    return near(target.rpartition(".")[2], {*definitions, *members})

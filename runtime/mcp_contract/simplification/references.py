"""One schema as a whole: its dialect, and where its references lead.

Rule: a reference leads to a place in the same schema or nowhere; nothing is ever fetched.
Specification: basic/index#ref-resolution
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.keywords import Schema, at, subschemas, words
from mcp_contract.simplification.limits import NotSimplifiable

_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_DRAFT_7 = "http://json-schema.org/draft-07/schema"

_ONLY_IN_NEWEST = words(
    "$anchor dependentRequired dependentSchemas maxContains minContains prefixItems unevaluatedItems unevaluatedProperties"
)
_DYNAMIC = frozenset(("$dynamicRef", "$recursiveRef"))


class Document:
    """A schema, the places in it that references lead to, and the first thing in it that nobody here can follow.

    Args:
        schema: the root, within the limits of `check_limits`.

    Attributes:
        root: the root.
        ignores_siblings: does a `$ref` switch off the keywords beside it, as in draft 7?
        keywords: every keyword in it, known or not.
        targets: pointers to the places that references lead to.
        unresolved: the first reference that leads out of the schema or nowhere, or None.
        obstacle: what keeps the schema from being understood as a whole, or None.
    """

    def __init__(self, schema: Schema) -> None:
        self.root = schema
        self.keywords: set[str] = set()
        self.targets: set[str] = set()
        self.unresolved: NotSimplifiable | None = None
        self.obstacle: NotSimplifiable | None = None
        self._anchors: dict[str, str] = {}
        self._seen: set[str] = set()
        dialect = str(schema.get("$schema", _NEWEST)).rstrip("#") if isinstance(schema, dict) else _NEWEST
        self.ignores_siblings = dialect == _DRAFT_7
        if dialect not in (_NEWEST, _DRAFT_7):
            self._found("/$schema", f"the dialect {dialect!r} is not one of {_NEWEST}, {_DRAFT_7}")
        places = self._places("", schema)
        # The list grows while it is gone through: a target that stands in no schema position is first met by its reference.
        for pointer, node in places:
            self._look_at(pointer, node)
            target = self._target_place(pointer, node)
            if target is not None:
                self.targets.add(target[0])
                places += self._places(*target)

    def target(self, pointer: str, reference: str) -> tuple[str, Schema]:
        """Where a reference leads.

        Args:
            pointer: where the `$ref` stands, for the error.
            reference: its value.

        Returns:
            The pointer to the target, and the target.

        Raises:
            NotSimplifiable: it leads out of the schema, or nowhere.
        """
        address, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        if address:
            raise NotSimplifiable(pointer, f"the reference {reference!r} leads out of the schema")
        if fragment and not fragment.startswith("/"):
            if fragment not in self._anchors:
                raise NotSimplifiable(pointer, f"the reference {reference!r} leads nowhere")
            fragment = self._anchors[fragment]
        steps = [step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:]]
        place: Any = self.root
        for step in steps:
            if isinstance(place, dict) and step in place:
                place = place[step]
            elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
                place = place[int(step)]
            else:
                raise NotSimplifiable(pointer, f"the reference {reference!r} leads nowhere")
        if not isinstance(place, dict | bool):
            raise NotSimplifiable(pointer, f"the reference {reference!r} leads to something that is no schema")
        return at("", *steps), place

    def _places(self, pointer: str, schema: Schema) -> list[tuple[str, JsonObject]]:
        """A schema and all that stand in it, with their anchors noted."""
        found: list[tuple[str, JsonObject]] = []
        waiting = [(pointer, schema)]
        while waiting:
            place, node = waiting.pop()
            if not isinstance(node, dict) or place in self._seen:
                continue
            self._seen.add(place)
            found.append((place, node))
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    self._anchors[node[keyword]] = place
            waiting += reversed([(at(place, *steps), inner) for steps, inner in subschemas(node)])
        return found

    def _look_at(self, pointer: str, node: JsonObject) -> None:
        self.keywords.update(node)
        for keyword in node:
            if keyword in _DYNAMIC:
                self._found(at(pointer, keyword), f"{keyword} depends on the way to it")
            elif keyword == "$id" and pointer:
                self._found(at(pointer, keyword), "references under an $id start from there")
            elif self.ignores_siblings and keyword in _ONLY_IN_NEWEST:
                self._found(at(pointer, keyword), f"{keyword} means nothing in the dialect of the schema")
            elif not self.ignores_siblings and (
                keyword == "additionalItems" or (keyword == "items" and isinstance(node[keyword], list))
            ):
                self._found(at(pointer, keyword), f"this form of {keyword} means nothing in the dialect of the schema")

    def _target_place(self, pointer: str, node: JsonObject) -> tuple[str, Schema] | None:
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return None
        try:
            return self.target(at(pointer, "$ref"), reference)
        except NotSimplifiable as error:
            self.unresolved = self.unresolved or error
            self._found(error.pointer, error.reason)
            return None

    def _found(self, pointer: str, reason: str) -> None:
        if self.obstacle is None:
            self.obstacle = NotSimplifiable(pointer, reason)

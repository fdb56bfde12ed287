"""`specs/keywords.yaml`: keywords of published schemas that are left out before anything else is done with a schema.

Rule: a keyword that is not understood stops an import, since the models would not check what it says. Whoever has looked may declare it
harmless, with the reason; it is then left out of both sides of the proof.
"""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Collection, Mapping
from typing import Any

import pydantic

from ..reading.located import Problems, load
from ..reading.models import Each, LocatedText, Part, Text, read
from .normal_form import KEYWORDS

PATH = "specs/keywords.yaml"

_CHILDREN = ("additionalProperties", "items")
_BRANCHES = ("allOf", "anyOf", "oneOf")


class KeywordsFile(Part):
    """Keywords of published schemas that are left out before anything else is done with a schema."""

    model_config = pydantic.ConfigDict(title="file")

    harmless: Each[LocatedText, Text] = pydantic.Field(default_factory=dict)
    """Each keyword with the reason why leaving it out does no harm."""


def load_harmless(root: pathlib.Path, problems: Problems) -> tuple[str, ...]:
    """Read which keywords are harmless; no such file means none.

    Args:
        root: the folder that holds `specs`.
        problems: receives everything that is wrong; such an entry is left out.
    """
    if not (root / PATH).exists():
        return ()
    file = read(KeywordsFile, load(root, PATH, problems), problems)
    found = []
    for keyword, why in file.harmless.items() if file is not None else ():
        if keyword in KEYWORDS:
            problems.add(keyword.place, f"'{keyword}' is understood, so it cannot be left out as harmless")
        elif why is not None:
            found.append(str(keyword))
    return tuple(found)


def without_keywords(schema: Mapping[str, Any], harmless: Collection[str]) -> tuple[dict[str, Any], dict[str, int]]:
    """A published schema without some keywords, wherever a schema stands in it; members of that name stay.

    Args:
        schema: the whole schema, definitions under `$defs` or `definitions`.
        harmless: the keywords.

    Returns:
        The schema, and how often each keyword stood in it.
    """
    count: collections.Counter[str] = collections.Counter()

    def stripped(node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        count.update(key for key in node if key in harmless)
        out = {key: value for key, value in node.items() if key not in harmless}
        for holder in ("properties", "$defs", "definitions"):
            if isinstance(out.get(holder), Mapping):
                out[holder] = {name: stripped(child) for name, child in out[holder].items()}
        for key in _CHILDREN:
            if key in out:
                out[key] = stripped(out[key])
        for key in _BRANCHES:
            if isinstance(out.get(key), list):
                out[key] = [stripped(branch) for branch in out[key]]
        return out

    return stripped(schema), dict(sorted(count.items()))

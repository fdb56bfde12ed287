"""What a docstring says of each parameter, in the style of Google, NumPy or Sphinx.

Rule: a library reads it, and is only imported where there is something to read. What an annotation says counts more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_contract import JsonObject

_SAYS_SOMETHING = re.compile(
    r"^\s*(?:(?:args|arguments|params|parameters|other parameters|keyword args|keyword arguments|attributes)\s*:?\s*$|[:@](?:param|arg|key)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_OF_A_VALUE = ("param", "attribute")


def described_members(schema: JsonObject, *docs: str | None) -> JsonObject:
    """A schema of arguments whose members say what docstrings say of them.

    Args:
        schema: the schema, with or without descriptions.
        docs: docstrings, those that count more first.
    """
    told = {name: words for doc in reversed(docs) for name, words in _descriptions(doc)}
    members = schema.get("properties", {})
    added = {
        name: {**member, "description": told[name]}
        for name, member in members.items()
        if name in told and isinstance(member, dict) and "description" not in member
    }
    return {**schema, "properties": {**members, **added}} if added else schema


def _descriptions(doc: str | None) -> Iterator[tuple[str, str]]:
    if not doc or _SAYS_SOMETHING.search(doc) is None:
        return
    from docstring_parser import ParseError, parse

    try:
        found = parse(doc).params
    except ParseError:
        return
    for one in found:
        words = " ".join((one.description or "").split())
        if words and one.args[0] in _OF_A_VALUE:
            for name in one.arg_name.split(","):
                yield name.strip().lstrip("*"), words

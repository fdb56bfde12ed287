"""Arguments that are given as one JSON object.

Rule: what is none is refused before anything is sent.
"""

from __future__ import annotations

import pathlib
import sys

import click
from mcp_contract import JsonObject
from pydantic_core import from_json

_HINT = "--json-args"


def json_object(text: str) -> JsonObject:
    """A JSON object.

    Args:
        text: the object; `@` and the path of a file that holds it; or `-` for what is on stdin.

    Raises:
        click.BadParameter: it is none, or the file cannot be read.
    """
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        try:
            text = pathlib.Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise click.BadParameter(f"{text[1:]} cannot be read: {error}", param_hint=_HINT) from None
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as fault:
        raise click.BadParameter(f"that is no JSON: {fault}", param_hint=_HINT) from None
    if not isinstance(value, dict):
        raise click.BadParameter("that is no JSON object", param_hint=_HINT)
    return value

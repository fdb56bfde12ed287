"""What an input says without its comments, so that a digest of it changes with what it means.

Rule: nothing is understood here beyond where comments are; a file in which that cannot be told counts as it is.
"""

from __future__ import annotations

import io
import re
import tokenize

import yaml


def meaning(suffix: str, data: bytes) -> bytes:
    """What of an input file counts, by the end of its name: all but comments; where they cannot be told from the rest, everything."""
    strip = _STRIPPED.get(suffix)
    try:
        return strip(data.decode()).encode() if strip is not None else data
    except (UnicodeDecodeError, SyntaxError, tokenize.TokenError, yaml.YAMLError):
        return data


def _without_python_comments(text: str) -> str:
    if "#" not in text:
        return text
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines)


def _without_yaml_comments(text: str) -> str:
    """The events of a parser: they have neither comments nor layout."""
    kept = ("anchor", "tag", "value", "implicit")
    return "\n".join(
        f"{type(event).__name__} {[getattr(event, name, None) for name in kept]}" for event in yaml.parse(text, _LOADER)
    )


def _without_template_comments(text: str) -> str:
    """Where a comment stands may matter for the blanks around it, and what it says may not."""
    return re.sub(r"(\{#-?).*?(-?#\})", r"\1\2", text, flags=re.DOTALL)


def _without_marked_lines(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRIPPED = {
    ".jinja": _without_template_comments,
    ".jinja2": _without_template_comments,
    ".py": _without_python_comments,
    ".txt": _without_marked_lines,
    ".yaml": _without_yaml_comments,
}

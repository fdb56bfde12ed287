"""What passes between a client and a server, for a person to read.

Rule: everything is shown, both ways, in the order in which it passes; but not what lets somebody else act as this person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from mcp_revisions import AdapterSet
from pydantic_core import from_json

from mcp_anyrev.client.wire import WireHead, WireMessage

if TYPE_CHECKING:
    from mcp_anyrev.cli.terminal import Terminal

HIDDEN = "•••"

_SECRET = re.compile(r"auth|cookie|token|secret|password|api-?key|session", re.IGNORECASE)
_QUERY = re.compile(r"([?&][^=&]*=)[^&#]*")
_SCHEME = re.compile(r"(basic|bearer|dpop|digest|negotiate)\s+\S", re.IGNORECASE)
_LONGEST_TEXT = 2_000
_IN_ONE_LINE = 100


class WirePrinter:
    """Shows it on stderr; a client calls it as `on_wire`.

    Args:
        terminal: where it is shown.
        secret: the names of headers whose values are not shown, besides those that are known.
    """

    def __init__(self, terminal: Terminal, secret: Collection[str] = ()) -> None:
        self._terminal = terminal
        self._secret = {name.lower() for name in secret} | {
            adapter.session_header.lower()
            for adapter in AdapterSet.default().by_version.values()
            if adapter.session_header is not None
        }

    def __call__(self, passed: WireMessage | WireHead) -> None:
        arrow, color = ("→", "cyan") if passed.sent else ("←", "green")
        if isinstance(passed, WireHead):
            line = _QUERY.sub(rf"\1{HIDDEN}", passed.line)
            self._terminal.note(f"{arrow} {line}", fg=color, bold=True)
            for name, value in passed.headers.items():
                self._terminal.note(f"  {name}: {self._shown(name, value)}", dim=True)
            return
        lines = written(passed.content).splitlines()
        self._terminal.note("\n".join([f"{arrow} {lines[0]}", *(f"  {line}" for line in lines[1:])]), fg=color)

    def _shown(self, name: str, value: str) -> str:
        if name.lower() not in self._secret and not _SECRET.search(name):
            return value
        if name.lower() == "www-authenticate":  # what a server asks for is no secret
            return value
        return f"{value.split()[0]} {HIDDEN}" if _SCHEME.match(value) else HIDDEN


def written(content: bytes) -> str:
    """A message as a person reads it: JSON with long texts cut, or whatever it is."""
    try:
        value = from_json(content)
    except ValueError:
        return f"(no JSON) {_cut(content.decode(errors='backslashreplace'))}" if content.strip() else "(nothing)"
    value = _shortened(value)
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _IN_ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2)


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    return [_shortened(inner) for inner in value] if isinstance(value, list) else value


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 10]}… ({len(text)} characters)"

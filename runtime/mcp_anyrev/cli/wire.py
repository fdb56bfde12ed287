"""What passes between a client and a server, for a person to read.

Rule: everything is shown, both ways, in the order in which it passes; but not what lets somebody else act as this person.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mcp_anyrev.client.wire import WireHead, WireMessage
from mcp_anyrev.masking import shown_address, shown_headers, shown_message

if TYPE_CHECKING:
    from mcp_anyrev.cli.terminal import Terminal


class WirePrinter:
    """Shows it on stderr; a client calls it as `on_wire`.

    Args:
        terminal: where it is shown.
        secret: the names of headers whose values are not shown, besides those that are known.
    """

    def __init__(self, terminal: Terminal, secret: Collection[str] = ()) -> None:
        self._terminal = terminal
        self._secret = secret

    def __call__(self, passed: WireMessage | WireHead) -> None:
        arrow, color = ("→", "cyan") if passed.sent else ("←", "green")
        if isinstance(passed, WireHead):
            self._terminal.note(f"{arrow} {shown_address(passed.line)}", fg=color, bold=True)
            for name, value in shown_headers(passed.headers, self._secret):
                self._terminal.note(f"  {name}: {value}", dim=True)
            return
        lines = shown_message(passed.content).splitlines()
        self._terminal.note("\n".join([f"{arrow} {lines[0]}", *(f"  {line}" for line in lines[1:])]), fg=color)

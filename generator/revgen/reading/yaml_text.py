"""YAML as nodes with their places.

Rule: what one text can make of memory and time is bounded by its length, so there are no aliases: they may refer to themselves, and to
each other a million times over.
"""

from __future__ import annotations

import yaml
from yaml.composer import ComposerError

DEEPEST = 64


def compose(text: str) -> yaml.Node | None:
    """The node at the top of a text; None where there is none.

    Raises:
        yaml.YAMLError: it is no YAML, has an alias, or is nested too deep.
    """
    return yaml.compose(text, Loader=_Loader)


class _Loader(yaml.SafeLoader):
    """PyYAML's own, without aliases and without endless nesting."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs leave its parser out
        if isinstance(event, yaml.AliasEvent):
            message = f"'*{event.anchor}' is an alias; allowed: what it stands for, written out"
            raise _refusal(message, event)
        depth = self._depth = getattr(self, "_depth", 0) + 1
        if depth > DEEPEST:
            message = f"this is nested deeper than {DEEPEST} levels; allowed: fewer"
            raise _refusal(message, event)
        node = super().compose_node(parent, index)
        self._depth = depth - 1
        return node


def _refusal(message: str, event: yaml.Event) -> ComposerError:
    return ComposerError(None, None, message, event.start_mark)  # type: ignore[arg-type]  # they want a context where PyYAML needs none

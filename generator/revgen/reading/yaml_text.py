"""YAML as nodes with their places.

Rule: what one text can make of memory and time is bounded by its length, so there are no aliases: they may refer to themselves, and to
each other a million times over. What a text says, and what is wrong with it, does not depend on which of PyYAML's two parsers reads it.
"""

from __future__ import annotations

import re

import yaml
from yaml.composer import Composer, ComposerError

DEEPEST = 64

_READ_DIFFERENTLY = re.compile(r"[\t\r!\x85\u2028\u2029\ufeff]|[|>][-+\d]*#|[^\n]\Z")
"""Of tabs, tags, other ends of lines, a last line without an end, and a comment where none may stand the two parsers think differently."""


def compose(text: str) -> yaml.Node | None:
    """The node at the top of a text; None where there is none.

    Raises:
        yaml.YAMLError: it is no YAML, has an alias, an anchor or a tag, or is nested too deep.
    """
    if _QuickLoader is not None and not _READ_DIFFERENTLY.search(text):
        try:
            return yaml.compose(text, Loader=_QuickLoader)
        except (yaml.YAMLError, UnicodeError):
            pass  # the other one says what is wrong
    return yaml.compose(text, Loader=_Loader)


class _Bounded(Composer):
    """PyYAML's own, without aliases, anchors, tags and endless nesting."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[attr-defined]  # of the parser that it is joined with
        if isinstance(event, yaml.AliasEvent):
            message = f"'*{event.anchor}' is an alias; allowed: what it stands for, written out"
            raise _refusal(message, event)
        if (anchor := getattr(event, "anchor", None)) is not None:
            raise _refusal(f"'&{anchor}' is an anchor, and no alias is read; allowed: what it stands before", event)
        if (tag := getattr(event, "tag", None)) is not None:
            raise _refusal(f"'{tag}' is a tag, and nothing reads it; allowed: what it stands before", event)
        depth = self._depth = getattr(self, "_depth", 0) + 1
        if depth > DEEPEST:
            message = f"this is nested deeper than {DEEPEST} levels; allowed: fewer"
            raise _refusal(message, event)
        node = super().compose_node(parent, index)
        self._depth = depth - 1
        return node


class _Loader(_Bounded, yaml.SafeLoader):
    """With the parser that is written in Python."""


def _quick_loader() -> type[yaml.CSafeLoader] | None:
    """With the parser that is written in C, eight times as fast; None where PyYAML has none."""
    if not yaml.__with_libyaml__:
        return None

    class QuickLoader(_Bounded, yaml.CSafeLoader):
        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            event = self.peek_event()
            if isinstance(event, yaml.ScalarEvent) and not event.style and "?" in event.value and _in_flow(parent):
                raise _refusal("only one of the parsers takes this", event)
            return super().compose_node(parent, index)

    return QuickLoader


def _in_flow(parent: yaml.Node | None) -> bool:
    return isinstance(parent, yaml.CollectionNode) and bool(parent.flow_style)


def _refusal(message: str, event: yaml.Event) -> ComposerError:
    return ComposerError(None, None, message, event.start_mark)  # type: ignore[arg-type]  # they want a context where PyYAML needs none


_QuickLoader = _quick_loader()

"""YAML is read alike by whichever of PyYAML's parsers reads it.

Rule: the one that is written in Python is the judge; the other one is only quicker.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from covering import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from revgen.reading import yaml_text

PIECES = st.sampled_from(
    [
        *"\n\n\n  -?:,[]{}#&*!|>'\"%ab1~\t\r\\\x07",
        "- ",
        "? ",
        ": ",
        "\n  ",
        "\n    ",
        "a: ",
        "- a",
        "---\n",
        "...\n",
        "é\u2028\ufeff",
    ]
)


def said(text: str) -> Any:
    """The nodes of a text with their places, or what is wrong with it."""

    def seen(node: yaml.Node | None) -> Any:
        if node is None:
            return None
        marks = [(mark.line, mark.column) for mark in (node.start_mark, node.end_mark)]
        if isinstance(node, yaml.ScalarNode):
            return marks, node.tag, node.value, node.style or None
        assert isinstance(node, yaml.SequenceNode | yaml.MappingNode)
        inner = [seen(one) for item in node.value for one in (item if isinstance(item, tuple) else (item,))]
        return marks, node.tag, bool(node.flow_style), inner

    try:
        return seen(yaml_text.compose(text))
    except yaml.YAMLError as error:
        return str(error)


@pytest.mark.hypothesis
@settings(max_examples=examples(500))
@given(st.lists(PIECES, max_size=14).map("".join))
@example("a: {b: c?}\n")
@example("a: {b: c? d}\n")
@example("a:\tb\n")
@example("a: !b c\n")
@example("a: >#\n")
@example("- ")
@example("- a\n- [b, {c: 'd'}]\n")
@example("a: *b\n")
@example("a: b: c\n")
@example("[" * 65 + "]" * 65 + "\n")
def test_both_parsers_say_the_same(text: str) -> None:
    read = said(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_text, "_QuickLoader", None)
        assert said(text) == read


def test_the_quick_one_is_there_and_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml_text, "_Loader")
    assert said("a: [1]\n") is not None

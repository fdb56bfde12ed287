"""Questions and what counts as an answer to one.

Citations: client/elicitation#response-actions, client/elicitation#requested-schema.
"""

from __future__ import annotations

import enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_anyrev import elicit
from mcp_anyrev.questions import Answer, Question
from mcp_revisions import AdapterSet
from pydantic import BaseModel, Field

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["action", "content", "x"]) | st.text(), inner),
)


def judge(question: Question[Any], said: Any) -> Answer[Any] | None:
    """What an answer amounts to; for a question to a person, the same in every revision."""
    return question.judge(AdapterSet.default().newest, said)


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    size: Size
    kind: Literal["tea", "milk"]
    count: int = Field(ge=1, description="How many?")
    note: str | None = None
    hot: bool = True


class Nested(BaseModel):
    order: Order


@given(said=anything)
def test_nothing_is_accepted_that_does_not_say_so(said: Any) -> None:
    answer = judge(elicit("Go ahead?"), said)
    says_so = isinstance(said, dict) and said.get("action") == "accept"
    assert says_so or (answer is not None and not answer.accepted and answer.content == {})


@given(content=anything)
def test_nothing_is_accepted_that_does_not_fit(content: Any) -> None:
    answer = judge(elicit("How many?", Order), {"action": "accept", "content": content})
    assert answer is None or answer.data.count >= 1


def test_an_acceptance_is_read_into_the_model() -> None:
    content = {"size": "small", "kind": "tea", "count": 2}
    answer = judge(elicit("What?", Order), {"action": "accept", "content": content})
    assert answer is not None and answer.accepted and answer.action == "accept"
    assert answer.data == Order(size=Size.SMALL, kind="tea", count=2) and answer.content == content


@pytest.mark.parametrize("said", [{"action": "decline"}, {"action": "cancel"}, {}, None])
def test_an_answer_that_was_not_accepted_has_no_data(said: Any) -> None:
    answer = judge(elicit("What?", Order), said)
    assert answer is not None and answer.content == {}
    with pytest.raises(ValueError, match=r"look at .accepted first"):
        _ = answer.data


def test_a_confirmation_needs_no_content() -> None:
    for content in ({}, None):
        answer = judge(elicit("Go ahead?"), {"action": "accept", "content": content})
        assert answer is not None and answer.accepted and answer.data == {}
    answer = judge(elicit("Go ahead?"), {"action": "accept"})
    assert answer is not None and answer.accepted


def test_a_form_is_flat() -> None:
    form = elicit("What?", Order).schema
    assert form == {
        "type": "object",
        "properties": {
            "size": {"type": "string", "enum": ["small", "large"]},
            "kind": {"type": "string", "enum": ["tea", "milk"]},
            "count": {"type": "integer", "minimum": 1, "description": "How many?"},
            "note": {"type": "string"},
            "hot": {"type": "boolean", "default": True},
        },
        "required": ["size", "kind", "count"],
    }


def test_a_model_within_a_model_is_no_form() -> None:
    with pytest.raises(TypeError, match=r"^Nested.order: a form asks only for text, numbers, booleans and choices"):
        elicit("What?", Nested)


@pytest.mark.parametrize(
    "form",
    [{}, {"type": "array"}, {"type": "object"}, {"type": "object", "properties": {"a": {"type": "nonsense"}}}],
)
def test_a_schema_that_is_no_form_is_refused(form: Any) -> None:
    with pytest.raises(TypeError):
        elicit("What?", form)


def test_an_address_takes_the_place_of_a_form() -> None:
    question = elicit("Please sign in.", url="https://a.example/sign-in")
    params = question.request()["params"]
    assert params["mode"] == "url" and params["url"] == "https://a.example/sign-in"
    accepted, declined = judge(question, {"action": "accept"}), judge(question, {"action": "decline"})
    assert accepted is not None and accepted.accepted
    assert declined is not None and not declined.accepted


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "/relative", "https://", "file:///etc/passwd"])
def test_an_address_is_an_absolute_one_of_the_web(url: str) -> None:
    with pytest.raises(ValueError, match=r"is no absolute http or https address$"):
        elicit("Please sign in.", url=url)


def test_a_question_is_recognised_by_everything_that_is_asked() -> None:
    questions = [
        elicit("One?"),
        elicit("Two?"),
        elicit("One?", {"type": "object", "properties": {"a": {"type": "string"}}}),
        elicit("One?", url="https://a.example/1"),
        elicit("One?", url="https://a.example/2"),
    ]
    assert len({question.digest for question in questions}) == len(questions)
    assert elicit("One?").digest == elicit("One?").digest
    assert elicit("One?", url="https://a.example/1").digest == questions[3].digest

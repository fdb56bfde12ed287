"""The convention by which a tool call carries questions and answers where the protocol has no channel."""

import json
from typing import Any

from mcp_contract import questions_as_text, questions_in_meta, take_answers, with_answer_arguments

QUESTION: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "message": "Which color?",
        "requestedSchema": {
            "type": "object",
            "properties": {"color": {"type": "string", "enum": ["red", "blue"]}, "note": {"type": "string"}},
            "required": ["color"],
        },
    },
}


def copied(text: str) -> Any:
    """The JSON that the text tells to copy."""
    (line,) = [line for line in text.splitlines() if line.startswith("{")]
    return json.loads(line)


def test_the_text_holds_the_question_and_the_json_that_finishes_the_call() -> None:
    (block,) = questions_as_text({"go": QUESTION}, "handle", {"label": None})["content"]
    assert "Which color?" in block["text"]
    assert "red, blue" in block["text"]
    assert "decline" in block["text"]
    assert copied(block["text"]) == {
        "label": None,
        "mcpAnswers": {"go": {"action": "accept", "content": {"color": None}}},
        "mcpState": "handle",
    }


def test_a_bare_confirmation_copied_as_it_is_is_complete() -> None:
    bare = {
        "method": "elicitation/create",
        "params": {"message": "Go ahead?", "requestedSchema": {"type": "object", "properties": {}}},
    }
    text = questions_as_text({"go": bare}, "s", {})["content"][0]["text"]
    assert copied(text)["mcpAnswers"] == {"go": {"action": "accept", "content": {}}}


def test_a_program_finds_the_same_questions_in_meta() -> None:
    found = questions_in_meta(questions_as_text({"go": QUESTION}, "handle", {}))
    assert found is not None
    assert found.questions == {"go": QUESTION}
    assert found.state == "handle"


def test_an_ordinary_result_asks_nothing() -> None:
    assert questions_in_meta({"content": []}) is None


def test_answers_are_taken_out_of_what_they_travelled_in() -> None:
    held = {"label": "x", "mcpAnswers": {"go": {"action": "accept"}}, "mcpState": "s"}
    assert take_answers(held, "mcpAnswers", "mcpState") == ({"label": "x"}, {"go": {"action": "accept"}}, "s")
    assert "mcpAnswers" in held


def test_what_has_no_answers_is_the_same_object() -> None:
    held = {"label": "x"}
    assert take_answers(held, "mcpAnswers", "mcpState")[0] is held


def test_answers_of_the_wrong_type_are_none() -> None:
    assert take_answers({"mcpAnswers": "yes", "mcpState": 5}, "mcpAnswers", "mcpState") == ({}, {}, None)


def test_the_two_arguments_are_optional_and_beside_the_tools_own() -> None:
    schema = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]}
    extended = with_answer_arguments(schema)
    assert set(extended["properties"]) == {"label", "mcpAnswers", "mcpState"}
    assert extended["required"] == ["label"]
    assert set(schema["properties"]) == {"label"}

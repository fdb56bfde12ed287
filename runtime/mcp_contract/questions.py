"""Questions in tool calls: the convention for revisions that have no channel for them.

Rule: the text is for a model and the `_meta` for a program, and both say the same. What counts as an answer is not decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from mcp_contract.frames import member
from mcp_contract.messages import Json, JsonObject, Questions

ANSWERS_ARGUMENT = "mcpAnswers"
STATE_ARGUMENT = "mcpState"
QUESTIONS_KEY = "mcp-anyrev/questions"
STATE_KEY = "mcp-anyrev/state"


def take_answers(
    holder: JsonObject, answers_name: str, state_name: str
) -> tuple[JsonObject, Mapping[str, Json], str | None]:
    """Take answers and state out of the object they travelled in.

    Args:
        holder: params or arguments; left as it is.
        answers_name: the member that holds the answers by key.
        state_name: the member that holds the echoed state.

    Returns:
        The object without the two members, the answers (empty where there is no object of them), and the state (None where
        there is no text).
    """
    answers, state = holder.get(answers_name), holder.get(state_name)
    if answers is None and state is None and answers_name not in holder and state_name not in holder:
        return holder, {}, None
    rest = {name: value for name, value in holder.items() if name not in (answers_name, state_name)}
    return rest, answers if isinstance(answers, dict) else {}, state if isinstance(state, str) else None


def with_answer_arguments(schema: JsonObject) -> JsonObject:
    """An object schema with two more optional members: answers and state.

    Args:
        schema: the input schema of a tool that asks; left as it is.
    """
    added = {
        ANSWERS_ARGUMENT: {
            "type": "object",
            "description": "Leave out at first. If the result asks something, the answers by key, as the result shows.",
        },
        STATE_ARGUMENT: {
            "type": "string",
            "description": "Leave out at first. If the result asks something, the value that it gives, unchanged.",
        },
    }
    return {**schema, "properties": {**schema.get("properties", {}), **added}}


def questions_as_text(questions: Mapping[str, JsonObject], state: str, arguments: JsonObject) -> JsonObject:
    """A tool result that asks.

    Args:
        questions: key → `{"method": …, "params": {"message": …, "requestedSchema": …}}`.
        state: what the next call must give back.
        arguments: those of the call, which the next one must have again.

    Returns:
        A tool result with one text block, and the same questions in `_meta`.
    """
    asked = "\n".join(f"- {key}: {_described(question)}" for key, question in questions.items())
    finishing = {
        **arguments,
        ANSWERS_ARGUMENT: {
            key: {"action": "accept", "content": _unfilled(question)} for key, question in questions.items()
        },
        STATE_ARGUMENT: state,
    }
    text = (
        "This call is not finished: the person you work for has to answer first. Put the following to them, do not answer in"
        f" their place:\n{asked}\n\nThen call the same tool again with exactly these arguments, every null in {ANSWERS_ARGUMENT}"
        f" replaced by what the person said:\n{to_json(finishing).decode()}\n\nIf the person declines, send"
        ' {"action": "decline"} in place of that answer.'
    )
    return {"content": [{"type": "text", "text": text}], "_meta": {QUESTIONS_KEY: dict(questions), STATE_KEY: state}}


def questions_in_meta(result: JsonObject) -> Questions | None:
    """The questions that a tool result repeats in `_meta`, or None where it asks nothing."""
    questions, state = member(result, "_meta", QUESTIONS_KEY), member(result, "_meta", STATE_KEY)
    if not isinstance(questions, dict):
        return None
    return Questions(questions, state if isinstance(state, str) else None)


def _schema(question: JsonObject) -> JsonObject:
    schema = question.get("params", {}).get("requestedSchema")
    return schema if isinstance(schema, dict) else {}


def _unfilled(question: JsonObject) -> dict[str, Any]:
    """A form with every required member null: copied as it is, it is no acceptance, since null fits no member."""
    return dict.fromkeys(_schema(question).get("required", ()))


def _described(question: JsonObject) -> str:
    message = str(question.get("params", {}).get("message", ""))
    required = _schema(question).get("required", ())
    members = []
    for name, wanted in _schema(question).get("properties", {}).items():
        words = [str(wanted.get("type", "value"))]
        choices = _choices(wanted)
        if choices:
            words.append(f"{'any' if 'items' in wanted else 'one'} of {', '.join(choices)}")
        if "default" in wanted:
            words.append(f"{to_json(wanted['default']).decode()} if nothing is said")
        if name not in required:
            words.append("optional")
        members.append(f"{name} ({'; '.join(words)}){': ' + wanted['description'] if 'description' in wanted else ''}")
    return message if not members else f"{message} Wanted: {', '.join(members)}."


def _choices(wanted: JsonObject) -> list[str]:
    """What may be chosen, with its titles; nothing where anything may be said."""
    within = wanted.get("items", wanted)
    titled = within.get("oneOf") or within.get("anyOf") or ()
    plain = [str(one) for one in within.get("enum", ())]
    return plain or [f"{one['const']} ({one['title']})" for one in titled if "const" in one and "title" in one]

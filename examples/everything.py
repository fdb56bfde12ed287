"""One of everything: every kind of content, question and notification that there is.

Rule: this is what the official conformance suite calls, so names, arguments and answers are those that it expects. The same handlers
serve every revision; none knows which.

    mcp-anyrev serve examples/everything.py:registry
"""

import asyncio
import base64
import json
from typing import Annotated, Any, Literal

from mcp_anyrev import Exchange, Registry, Skills, ToolError, elicit, roots, sample
from mcp_contract import InternalError
from mcp_revisions.canonical import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PAUSE_SECONDS = 0.05

registry = Registry("everything", "1.0", title="One of everything", description="What the conformance suite calls.")


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
"""A picture of one red pixel."""

WAV = "UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA"
"""A moment of silence."""


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))


# --- Content ---


@registry.tool
def test_simple_text() -> str:
    """Text."""
    return "This is a simple text response for testing."


@registry.tool
def test_image_content() -> ImageContent:
    """A picture."""
    return image()


@registry.tool
def test_audio_content() -> AudioContent:
    """A sound."""
    return AudioContent(type="audio", data=WAV, mime_type="audio/wav")


@registry.tool
def test_embedded_resource() -> EmbeddedResource:
    """A resource inside the result."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@registry.tool
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """A text, a picture and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    return [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", data, "application/json"),
    ]


@registry.tool
def test_error_handling() -> str:
    """Fails, in words for the client."""
    raise ToolError("This tool intentionally returns an error for testing")


# --- Messages on the way ---


@registry.tool(name="test_logging_tool")
@registry.tool
async def test_tool_with_logging(ex: Exchange) -> str:
    """Says what it does while it does it."""
    await ex.log("info", "Tool execution started")
    await asyncio.sleep(PAUSE_SECONDS)
    await ex.log("info", "Tool processing data")
    await asyncio.sleep(PAUSE_SECONDS)
    await ex.log("info", "Tool execution completed")
    return "logged three times"


@registry.tool
async def test_tool_with_progress(ex: Exchange) -> str:
    """Tells how far it is."""
    for done in (0, 50, 100):
        await ex.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(PAUSE_SECONDS)
    return "done"


@registry.tool
async def test_reconnection(ex: Exchange) -> str:
    """Lets the stream go, and answers whoever takes it up again."""
    ex.release_stream(retry=0.5)
    await asyncio.sleep(2 * PAUSE_SECONDS)
    return "Reconnection test completed"


# --- Questions ---


class Contact(BaseModel):
    username: str = Field(description="Your name")
    email: str = Field(description="Your address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


class Name(BaseModel):
    name: str


class Color(BaseModel):
    color: str


class Agreement(BaseModel):
    ok: bool


ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]},
        },
    },
}


@registry.tool
async def test_sampling(prompt: str, ex: Exchange) -> str:
    """Lets the client's model answer."""
    answer = await ex.ask("answer", sample(prompt, max_tokens=100))
    return f"LLM response: {json.dumps(answer.content)}"


@registry.tool
async def test_elicitation(message: str, ex: Exchange) -> str:
    """Asks the person for a form."""
    answer = await ex.ask("contact", elicit(message, Contact))
    return f"User response: action={answer.action}, content={json.dumps(answer.content)}"


@registry.tool
async def test_elicitation_sep1034_defaults(ex: Exchange) -> str:
    """A form that is filled in already."""
    answer = await ex.ask("defaults", elicit("Please review and update the form fields", Defaults))
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


@registry.tool
async def test_elicitation_sep1330_enums(ex: Exchange) -> str:
    """A form with every kind of choice."""
    answer = await ex.ask("enums", elicit("Please select options from the enum fields", ENUMS))
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


@registry.tool
async def test_missing_capability(ex: Exchange) -> str:
    """Needs a client that samples."""
    ex.require("sampling")
    return "the client samples"


@registry.tool
async def test_input_required_result_elicitation(ex: Exchange) -> str:
    """Asks for a name."""
    answer = await ex.ask("user_name", elicit("What is your name?", Name, unasked=True))
    return f"Hello, {answer.data.name}!" if answer.accepted else "no name"


@registry.tool
async def test_input_required_result_sampling(ex: Exchange) -> str:
    """Asks the client's model."""
    answer = await ex.ask("capital_question", sample("What is the capital of France?", max_tokens=100))
    return json.dumps(answer.content)


@registry.tool
async def test_input_required_result_list_roots(ex: Exchange) -> str:
    """Asks for the client's roots."""
    return json.dumps((await ex.ask("client_roots", roots())).content)


@registry.tool(name="test_streaming_elicitation")
@registry.tool(name="test_input_required_result_tampered_state")
@registry.tool
async def test_input_required_result_request_state(ex: Exchange) -> str:
    """Asks for a confirmation; what comes back is bound to it."""
    answer = await ex.ask("confirm", elicit("Please confirm", Agreement))
    return f"state-ok: {answer.accepted}"


@registry.tool
async def test_input_required_result_multiple_inputs(ex: Exchange) -> str:
    """Three questions of different kinds in one round."""
    answers = await ex.ask_all(
        user_name=elicit("What is your name?", Name),
        greeting=sample("Generate a greeting", max_tokens=50),
        client_roots=roots(),
    )
    return json.dumps({key: answer.content for key, answer in answers.items()})


@registry.tool
async def test_input_required_result_multi_round(ex: Exchange) -> str:
    """Two questions, the second after the first."""
    name = await ex.ask("step1", elicit("Step 1: What is your name?", Name))
    color = await ex.ask("step2", elicit("Step 2: What is your favorite color?", Color))
    return f"{name.content} {color.content}"


@registry.tool
async def test_input_required_result_capabilities(ex: Exchange) -> str:
    """Asks only what the client said that it can be asked."""
    if "sampling" in ex.client.capabilities:
        return json.dumps((await ex.ask("sampled", sample("Say hello", max_tokens=50))).content)
    return json.dumps((await ex.ask("name", elicit("What is your name?", Name))).content)


# --- Answered later ---


@registry.tool
def greet(name: str) -> str:
    """Answered at once, whatever a client knows."""
    return f"Hello, {name}!"


@registry.tool(task_support="optional")
async def slow_compute(seconds: float, label: str = "") -> str:
    """Takes its time, so a client that knows tasks gets one."""
    await asyncio.sleep(seconds)
    return f"{label or 'computed'} after {seconds:g} s"


@registry.tool(task_support="required")
async def failing_job() -> str:
    """A task only, which does not get its work done."""
    await asyncio.sleep(1)
    raise ToolError("the job failed")


@registry.tool(task_support="optional")
async def protocol_error_job() -> str:
    """Ends in an error of the protocol."""
    raise InternalError("the job broke")


class Confirmed(BaseModel):
    """What is asked before something is deleted."""

    confirm: bool


@registry.tool(task_support="optional")
async def confirm_delete(filename: str, ex: Exchange) -> str:
    """Asks while it is a task."""
    await ex.answer_later()
    answer = await ex.ask("confirm", elicit(f"Delete {filename}?", Confirmed))
    return f"Deleted {filename}" if answer.accepted and answer.data.confirm else f"Kept {filename}"


@registry.tool(task_support="optional")
async def multi_input(ex: Exchange) -> str:
    """Asks two things at once while it is a task; they may be answered one by one."""
    await ex.answer_later()
    answers = await ex.ask_all(first=elicit("What is your name?", Name), second=elicit("And your friend's?", Name))
    return json.dumps({key: answer.content for key, answer in answers.items()})


@registry.tool(task_support="optional")
async def test_tool_with_task(ex: Exchange) -> str:
    """Asks first, and becomes a task then."""
    name = await ex.ask("user_name", elicit("What is your name?", Name))
    await ex.answer_later()
    return f"Hello, {name.data.name}!" if name.accepted else "Hello, whoever you are!"


# --- Schemas and headers ---

ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}

DIALECT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@registry.tool(input_schema=DIALECT)
def json_schema_2020_12_tool(arguments: dict[str, Any]) -> str:
    """Takes what a schema with composition and references allows."""
    return json.dumps(arguments)


@registry.tool
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
) -> str:
    """An argument that is repeated in a header."""
    return f"region={region}"


# --- Changes ---


@registry.tool
def test_trigger_tool_change() -> str:
    """Says that the list of tools has changed."""
    registry.changed("tools")
    return "told"


@registry.tool
def test_trigger_prompt_change() -> str:
    """Says that the list of prompts has changed."""
    registry.changed("prompts")
    return "told"


# --- Resources ---


@registry.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@registry.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A picture."""
    return base64.b64decode(PNG)


@registry.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A text that can be subscribed to."""
    return "Watched resource content"


@registry.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> str:
    """Data by number."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


# --- Prompts ---


@registry.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@registry.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@registry.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:
    """A prompt that brings a resource along."""
    resource = embedded(resourceUri, "Embedded resource content for testing.")
    return [
        PromptMessage(role="user", content=resource),
        PromptMessage(role="user", content=text("Please process the embedded resource above.")),
    ]


@registry.prompt
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt that brings a picture along."""
    return [
        PromptMessage(role="user", content=image()),
        PromptMessage(role="user", content=text("Please analyze the image above.")),
    ]


@registry.prompt
async def test_input_required_result_prompt(ex: Exchange) -> str:
    """A prompt that asks before it is made."""
    answer = await ex.ask("user_context", elicit("What context should the prompt use?", Context))
    return f"Use this context: {answer.content}"


class Context(BaseModel):
    context: str


@registry.completion("arg1", prompt="test_prompt_with_arguments")
def complete_arg1(value: str) -> list[str]:
    return [option for option in ("test", "testValue1", "testing") if option.startswith(value)]


# --- Skills ---

skills = Skills()
skills.add(
    "handbook/greeting",
    {
        "SKILL.md": "---\nname: greeting\ndescription: How to greet.\n---\nSee references/words.md.\n",
        "references/words.md": "Hello.\n",
    },
)
registry.extension(skills)

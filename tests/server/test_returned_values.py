"""What goes out of what a handler returns: as its annotation says, text as text, content as content.

Citations: server/tools#tool-result.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import pathlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NewType

import pytest
from mcp_anyrev import Audio, File, Image, RegistrationError, Registry
from mcp_revisions.canonical import CallToolResult, TextContent
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, PlainSerializer
from raw_client import RawClient, serving

SECRET = "hunter2"
Name = NewType("Name", str)


class User(BaseModel):
    name: str


class Stored(User):
    password_hash: str = SECRET


@dataclasses.dataclass
class Point:
    x: int


@dataclasses.dataclass
class Secret(Point):
    password_hash: str = SECRET


class Row:
    """As a mapper of databases makes it."""

    name = "Ann"
    password_hash = SECRET


class Colour(enum.Enum):
    RED = "red"


Shouted = Annotated[str, PlainSerializer(lambda text: text.upper())]
Cents = Annotated[int, PlainSerializer(lambda number: f"{number} ct", return_type=str)]
STORED = Stored(name="Ann")


def user() -> User:
    return STORED


async def optional_user() -> User | None:
    return STORED


async def users() -> list[User]:
    return [STORED]


async def by_name() -> dict[str, User]:
    return {"Ann": STORED}


async def from_dictionary() -> User:
    return STORED.model_dump()  # type: ignore[return-value]  # what this tests


async def from_row() -> User:
    return Row()  # type: ignore[return-value]  # what this tests


async def tuple_for_list() -> list[User]:
    return (STORED,)  # type: ignore[return-value]  # what this tests


async def point() -> Point:
    return Secret(1)


@dataclasses.dataclass
class Record:
    """As a mapper of databases makes it, too."""

    name: str = "Ann"
    password_hash: str = SECRET


async def records() -> list[User]:
    return [Record()]  # type: ignore[list-item]  # what this tests


def one_by_one() -> Iterator[User]:
    yield STORED


async def picture_or_user() -> Image | User:
    return STORED


async def pictures_or_users() -> list[Image | User]:
    return [STORED]


async def text_or_users() -> str | dict[str, User]:
    return {"Ann": STORED}


async def one_of_two_mappings() -> dict[str, User] | dict[str, int]:
    return {"Ann": STORED}


async def texts_or_users() -> list[float | dict[str, list[User]]]:
    return [{"Ann": [STORED]}]


class Office(BaseModel):
    staff: str | dict[str, User]


async def office() -> Office:
    return Office(staff={"Ann": STORED})


ANN = {"name": "Ann"}


@pytest.mark.parametrize(
    ("function", "structured"),
    [
        (user, ANN),
        (optional_user, ANN),
        (users, [ANN]),
        (by_name, {"Ann": ANN}),
        (from_dictionary, ANN),
        (from_row, ANN),
        (tuple_for_list, [ANN]),
        (point, {"x": 1}),
        (one_by_one, [ANN]),
        (records, [ANN]),
        (picture_or_user, ANN),
        (pictures_or_users, [ANN]),
        (text_or_users, {"Ann": ANN}),
        (one_of_two_mappings, {"Ann": ANN}),
        (texts_or_users, [{"Ann": [ANN]}]),
        (office, {"staff": {"Ann": ANN}}),
    ],
)
async def test_a_value_goes_out_as_the_annotation_says(adapter: Adapter, function: Any, structured: Any) -> None:
    registry = Registry("returned", "1.0")
    registry.tool(name="returned")(function)
    registry.resource("mx://returned")(function)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        reply = await client.tool("returned")
        read = await client.call("resources/read", {"uri": "mx://returned"})
    assert json.loads(reply.text) == structured
    assert reply.result.get("structuredContent", structured) == structured
    assert SECRET not in json.dumps([reply.message, read.message])
    assert json.loads(read.result["contents"][0]["text"]) == structured


async def test_a_value_that_the_annotation_does_not_allow_is_an_error(adapter: Adapter) -> None:
    registry = Registry("returned", "1.0")

    @registry.tool
    async def wrong() -> User:
        return {"password_hash": SECRET}  # type: ignore[return-value]  # what this tests

    @registry.tool
    async def picture() -> Image | None:
        return STORED  # type: ignore[return-value]  # what this tests

    @registry.tool
    async def members() -> list[BaseModel]:
        return [User(name="Ann")]

    async with serving(registry) as url, RawClient(url, adapter) as client:
        for name in ("wrong", "picture"):
            reply = await client.tool(name)
            assert reply.result["isError"] is True and SECRET not in json.dumps(reply.message)
        assert json.loads((await client.tool("members")).text) == [ANN]


async def optional_text() -> str | None:
    return "plain"


async def literal() -> Literal["plain", "fancy"]:
    return "plain"


async def optional_literal() -> Literal["plain"] | None:
    return "plain"


async def new_type() -> Name:
    return Name("plain")


async def annotated() -> Annotated[str, "a note"]:
    return "plain"


async def anything() -> Any:
    return "plain"


@pytest.mark.parametrize("function", [optional_text, literal, optional_literal, new_type, annotated, anything])
async def test_text_is_text(adapter: Adapter, function: Any) -> None:
    registry = Registry("texts", "1.0")
    registry.tool(name="text")(function)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        result = (await client.tool("text")).result
        listed = (await client.call("tools/list")).result["tools"][0]
    assert result["content"] == [{"type": "text", "text": "plain"}]
    assert "structuredContent" not in result and "outputSchema" not in listed


async def test_serializers_in_the_annotation_count(adapter: Adapter) -> None:
    registry = Registry("texts", "1.0")

    @registry.tool
    async def shouted() -> Shouted:
        return "plain"

    @registry.tool
    async def cents() -> list[Cents]:
        return [90]

    @registry.tool
    async def colour() -> Colour:
        return Colour.RED

    @registry.tool
    async def number_or_text(text: bool) -> str | int:
        return "one" if text else 1

    async with serving(registry) as url, RawClient(url, adapter) as client:
        assert (await client.tool("shouted")).text == "PLAIN"
        assert json.loads((await client.tool("cents")).text) == ["90 ct"]
        assert (await client.tool("colour")).text == "red"
        assert (await client.tool("number_or_text", {"text": True})).text == "one"
        assert (await client.tool("number_or_text", {"text": False})).text == "1"


BLOCK = TextContent(type="text", text="block")
PICTURE = Image(b"\x89PNG", "image/png")


def mixed_list() -> list[str | Image | TextContent]:
    return ["see", PICTURE, BLOCK]


def mixed_tuple() -> tuple[str, Image, TextContent]:
    return "see", PICTURE, BLOCK


def mixed_generator() -> Iterator[str | Image | TextContent]:
    yield "see"
    yield PICTURE
    yield BLOCK


async def mixed_unannotated():  # type: ignore[no-untyped-def]  # what this tests
    return (one for one in ("see", PICTURE, BLOCK))


@pytest.mark.parametrize("function", [mixed_list, mixed_tuple, mixed_generator, mixed_unannotated])
async def test_text_and_blocks_together_are_content(adapter: Adapter, function: Any) -> None:
    registry = Registry("mixed", "1.0")
    registry.tool(name="mixed")(function)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        result = (await client.tool("mixed")).result
    assert result["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "data": base64.b64encode(b"\x89PNG").decode(), "mimeType": "image/png"},
        {"type": "text", "text": "block"},
    ]
    assert "structuredContent" not in result


async def test_no_blocks_are_no_content(adapter: Adapter) -> None:
    registry = Registry("mixed", "1.0")

    @registry.tool
    async def none() -> list[TextContent]:
        return []

    @registry.tool
    async def texts() -> list[str | Image]:
        return ["a", "b"]

    @registry.tool
    async def whole() -> CallToolResult | list[Image]:
        return []

    async with serving(registry) as url, RawClient(url, adapter) as client:
        for name in ("none", "whole"):
            result = (await client.tool(name)).result
            assert result["content"] == [] and "structuredContent" not in result
        assert [block["text"] for block in (await client.tool("texts")).result["content"]] == ["a", "b"]


async def test_media_from_bytes_or_a_path(adapter: Adapter, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.png").write_bytes(b"png")
    (tmp_path / "b.wav").write_bytes(b"wav")
    (tmp_path / "c d.txt").write_text("text")
    registry = Registry("media", "1.0")

    @registry.tool
    def picture() -> Image:
        return Image(tmp_path / "a.png")

    @registry.tool
    def sound() -> Audio:
        return Audio(str(tmp_path / "b.wav"))

    @registry.tool
    def file() -> list[File]:
        return [File(tmp_path / "c d.txt"), File(b"\xff", name="raw.bin"), File(b"x", "text/csv", uri="mx://table")]

    @registry.resource("mx://picture")
    def read_picture() -> Image:
        return Image(tmp_path / "a.png")

    @registry.prompt
    def show() -> list[str | Image]:
        return ["Look:", Image(tmp_path / "a.png")]

    async with serving(registry) as url, RawClient(url, adapter) as client:
        assert (await client.tool("picture")).result["content"] == [
            {"type": "image", "data": "cG5n", "mimeType": "image/png"}
        ]
        assert "d2F2" in json.dumps((await client.tool("sound")).result["content"])
        first, second, third = [one["resource"] for one in (await client.tool("file")).result["content"]]
        assert first == {"uri": "attachment:///c%20d.txt", "mimeType": "text/plain", "text": "text"}
        assert second == {"uri": "attachment:///raw.bin", "mimeType": "application/octet-stream", "blob": "/w=="}
        assert third == {"uri": "mx://table", "mimeType": "text/csv", "text": "x"}
        read = (await client.call("resources/read", {"uri": "mx://picture"})).result["contents"]
        assert read == [{"uri": "mx://picture", "mimeType": "image/png", "blob": "cG5n"}]
        messages = (await client.call("prompts/get", {"name": "show"})).result["messages"]
        assert [message["content"]["type"] for message in messages] == ["text", "image"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Image(b"x"), ValueError, 'nothing says which type of image it is; write Image(data, "image/…")'),
        (lambda: Image(b"x", "text/plain"), ValueError, "'text/plain' is no type of image; Image takes image/…"),
        (lambda: Audio(3), TypeError, "Audio takes bytes or a path, not int"),  # type: ignore[arg-type]
        (lambda: File("/nowhere/at.all"), FileNotFoundError, "/nowhere/at.all"),
    ],
)
def test_media_that_cannot_be(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        make()
    assert words in str(raised.value)


@pytest.mark.parametrize("annotation", [bytes, bytes | None, list[bytes], Annotated[bytes, "a note"], bytearray])
def test_bytes_are_refused_where_they_are_declared(annotation: Any) -> None:
    def raw() -> Any: ...

    raw.__annotations__["return"] = annotation
    with pytest.raises(RegistrationError, match=r"tool 'raw': it returns bytes.*Image.*File"):
        Registry("bytes", "1.0").tool(raw)
    with pytest.raises(RegistrationError, match=r"prompt 'raw': it returns bytes.*Image.*File"):
        Registry("bytes", "1.0").prompt(raw)


class Album(BaseModel):
    cover: Image


@pytest.mark.parametrize(
    "annotation", [dict[str, Image], list[list[Image]], list[dict[str, File]], dict[str, Audio] | str]
)
def test_content_where_none_can_stand_is_refused_where_it_is_declared(annotation: Any) -> None:
    def misplaced() -> Any: ...

    misplaced.__annotations__["return"] = annotation
    for declare in (Registry("r", "1").tool, Registry("r", "1").prompt, Registry("r", "1").resource("mx://r")):
        with pytest.raises(RegistrationError, match=r"misplaced'|mx://r.*within something else|returns"):
            declare(misplaced)


def test_a_model_that_holds_content_is_refused_where_it_is_declared() -> None:
    def album() -> Album: ...

    def takes(cover: Image) -> str: ...

    for function, name in ((album, "album"), (takes, "takes")):
        with pytest.raises(RegistrationError, match=f"tool '{name}': .*no JSON Schema.*Image"):
            Registry("r", "1").tool(function)

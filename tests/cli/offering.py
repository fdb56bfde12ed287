"""What the commands of these tests call: one thing of each kind, and questions of every kind."""

from __future__ import annotations

import enum

from mcp_anyrev import Audio, Exchange, Image, Registry, elicit
from mcp_revisions import canonical
from pydantic import BaseModel, Field

PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(60)
SOUND = b"RIFF" + bytes(40)

registry = Registry("offering", "1.0", instructions="Try everything.")


class Color(enum.Enum):
    red = "red"
    green = "green"


class Person(BaseModel):
    name: str = Field(description="What they are called")
    age: int = Field(ge=0, le=150)
    color: Color = Color.green
    member: bool = False
    note: str | None = None


class Place(BaseModel):
    city: str


@registry.tool(title="Everything typed")
def typed(
    text: str,
    count: int = 1,
    share: float = 0.5,
    sure: bool = False,
    tags: list[str] | None = None,
    place: Place | None = None,
    color: Color = Color.red,
) -> dict[str, object]:
    """Gives back what it got."""
    return {
        "text": text,
        "count": count,
        "share": share,
        "sure": sure,
        "tags": tags,
        "place": place and place.city,
        "color": color.value,
    }


@registry.tool
def pictures() -> list[str | Image | Audio | canonical.ResourceLink]:
    """Content of every kind."""
    link = canonical.ResourceLink(type="resource_link", uri="mem://text", name="text", title="A text")
    return ["two of them", Image(PIXEL, "image/png"), Audio(SOUND, "audio/wav"), link]


@registry.tool
async def register(ex: Exchange) -> str:
    """Asks for a person."""
    answer = await ex.ask("who", elicit("Who is it?", Person))
    if not answer.accepted:
        return str(answer.action)
    data = answer.data
    return f"{data.name} {data.age} {data.color.value} {data.member} {data.note}"


@registry.tool
async def visit(ex: Exchange) -> str:
    """Asks to open an address."""
    return str((await ex.ask("go", elicit("Sign in:", url="https://example.org/sign-in?x=1"))).action)


@registry.tool(asks=False)
async def steps(ex: Exchange) -> str:
    """Reports and logs."""
    await ex.progress(1, 2, "halfway")
    await ex.log("error", "something \x1b[31mred", "steps")
    return "stepped"


@registry.tool
def noisy() -> str:
    """Prints, as handlers do."""
    print("printed by a handler")
    return "\x1b[2Jclean"


@registry.tool
def grow() -> str:
    """Says that there are other tools."""
    registry.changed("tools")
    return "grown"


@registry.resource("mem://text", mime_type="text/plain")
def text() -> str:
    """A text."""
    return "line one\nline two"


@registry.resource("mem://pixel", mime_type="image/png")
def pixel() -> bytes:
    """A picture."""
    return PIXEL


@registry.prompt(title="Greeting")
def greet(who: str, how: str = "Hello") -> str:
    """Greets."""
    return f"{how} {who}"

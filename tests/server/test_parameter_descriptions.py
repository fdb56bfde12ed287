"""What a docstring says of parameters is listed with them, in each of the styles that people write.

Citations: server/tools#tool, server/prompts#prompt.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import pytest
from mcp_anyrev import Registry
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, Field
from raw_client import RawClient, serving
from test_lazy_imports import imported_by


class Area(BaseModel):
    """A part of the map.

    Attributes:
        north: Its upper edge.
        south: Its lower edge.
    """

    north: float
    south: Annotated[float, Field(description="As the field says.")]


class Unit(BaseModel):
    name: str


async def google(city: str, days: int = 1, unit: Unit | None = None) -> str:
    """Forecast.

    Args:
        city (str): Where: a name,
            or a code.
        days: How many.
        unit: In what.

    Returns:
        str: the forecast
    """
    return city


async def numpy(city: str, days: int = 1, unit: Unit | None = None) -> str:
    """Forecast.

    Parameters
    ----------
    city : str
        Where: a name,
        or a code.
    days : int, optional
        How many.
    unit
        In what.

    Returns
    -------
    str
        the forecast
    """
    return city


async def sphinx(city: str, days: int = 1, unit: Unit | None = None) -> str:
    """Forecast.

    :param city: Where: a name,
        or a code.
    :param int days: How many.
    :param unit: In what.
    :returns: the forecast
    """
    return city


@pytest.mark.parametrize("function", [google, numpy, sphinx, functools.partial(google)])
def test_parameters_are_described_in_every_style(function: Any) -> None:
    registry = Registry("described", "1.0")
    registry.tool(function)
    registry.prompt(name="prompt")(functools.partial(function, unit=None))
    (tool,) = registry.tools.values()
    told = {name: member.get("description") for name, member in tool.description["inputSchema"]["properties"].items()}
    assert told == {"city": "Where: a name, or a code.", "days": "How many.", "unit": "In what."}
    arguments = registry.prompts["prompt"].description["arguments"]
    assert [one["description"] for one in arguments] == ["Where: a name, or a code.", "How many."]


async def test_descriptions_reach_every_revision(adapter: Adapter) -> None:
    registry = Registry("described", "1.0")
    registry.tool(google)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        (tool,) = (await client.call("tools/list")).result["tools"]
    assert tool["inputSchema"]["properties"]["unit"]["description"] == "In what."


def test_what_the_annotation_says_counts_more() -> None:
    registry = Registry("described", "1.0")

    @registry.tool
    async def both(word: Annotated[str, Field(description="As the annotation says.")], other: int) -> str:
        """Both.

        Args:
            word: As the docstring says.
            nobody: There is none of this name.
        """
        return word

    @registry.tool
    async def members(args: Area) -> str:
        """Members.

        Args:
            args: What is looked at.
        """
        return "fine"

    schema = registry.tools["both"].description["inputSchema"]
    assert schema["properties"]["word"]["description"] == "As the annotation says."
    assert "description" not in schema["properties"]["other"] and "nobody" not in schema["properties"]
    members_of = registry.tools["members"].description["inputSchema"]["properties"]
    assert [one["description"] for one in members_of.values()] == ["Its upper edge.", "As the field says."]


@pytest.mark.parametrize("doc", ["Args", "Args:", "Parameters\n---", ":param", ":param :", "Args:\n  - x\n", "@param"])
def test_a_docstring_that_cannot_be_read_describes_nothing(doc: str) -> None:
    async def odd(word: str) -> str:
        return word

    odd.__doc__ = doc
    registry = Registry("described", "1.0")
    registry.tool(odd)
    assert registry.tools["odd"].description["inputSchema"]["properties"]["word"] == {"type": "string"}


def test_what_reads_docstrings_is_imported_where_there_is_something_to_read() -> None:
    declared = "from mcp_anyrev import Registry\nr = Registry('a', '1')\nasync def f(a: int) -> str: {}\nr.tool(f)"
    assert "docstring_parser" not in imported_by(declared.format("'''Of no parameter.'''"))
    assert "docstring_parser" in imported_by(declared.format("'''X.\\n\\n    :param a: one\\n    '''"))

"""Models whose reading would take time that doubles with every level are refused where they are declared; all others are taken."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from mcp_anyrev import Registry
from mcp_anyrev.declaring.recursion import check_recursion
from mcp_anyrev.errors import RegistrationError
from pydantic import BaseModel, Discriminator, Field, Tag, create_model
from typing_extensions import TypedDict


class Plus(BaseModel):
    name: Literal["plus"]
    left: Term
    right: Term


class Times(BaseModel):
    name: Literal["times"]
    left: Term
    right: Term


Term = Plus | Times | int


class Folder(BaseModel):
    entries: list[Folder | Link] = []


class Link(BaseModel):
    entries: list[Folder | Link] = []
    target: str


class Odd(BaseModel):
    inner: dict[str, Even | Odd] = {}


class Even(BaseModel):
    inner: Odd | None = None


class Sum(BaseModel):
    kind: Literal["sum"]
    of: list[Told]


class Product(BaseModel):
    kind: Literal["product"]
    of: list[Told]


Told = Annotated[Sum | Product, Field(discriminator="kind")]


def kind_of(value: Any) -> str:
    return "one" if isinstance(value, dict) and "one" in value else "two"


class One(BaseModel):
    one: Called | None = None
    rest: Called | None = None


class Two(BaseModel):
    rest: Called | None = None


Called = Annotated[Annotated[One, Tag("one")] | Annotated[Two, Tag("two")], Discriminator(kind_of)]


class Chain(BaseModel):
    following: Chain | None = None
    aside: Chain | None = None


class Node(BaseModel):
    value: int | str | list[Node] | dict[str, Node]


class Left(BaseModel):
    left: Left | Right | None = None


class Right(BaseModel):
    right: Left | Right | None = None


@dataclass
class Leaf:
    size: int


@dataclass
class Twig:
    leaf: Leaf | list[Leaf]


class Row(TypedDict):
    cells: list[Row] | str


DOUBLING = [Plus, Folder, Odd]
LINEAR = [Sum, One, Chain, Node, Left, Leaf, Twig, Row]


def arguments(of: Any) -> type[BaseModel]:
    return create_model("arguments", it=(of, ...))


@pytest.mark.parametrize("model", DOUBLING)
def test_a_model_whose_reading_doubles_with_every_level_is_refused_with_what_to_do(model: Any) -> None:
    registry = Registry("recursive", "1.0")

    async def reads(it: Any) -> str:
        return ""

    reads.__annotations__ = {"it": model, "return": str}
    with pytest.raises(RegistrationError, match=r"^tool 'reads': the union of \w+ and \w+ leads back .*discriminator"):
        registry.tool(reads)


@pytest.mark.parametrize("model", LINEAR)
def test_a_model_that_is_read_once_is_taken(model: Any) -> None:
    check_recursion(arguments(model))


def cost(model: Any, levels: int, wrap: Any) -> float:
    value: Any = None
    for _ in range(levels):
        value = wrap(value)
    read = arguments(model).__pydantic_validator__.validate_python
    best = 1.0
    for _ in range(3):
        started = time.process_time()
        with contextlib.suppress(ValueError):
            read({"it": value})
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.parametrize(
    ("model", "wrap"),
    [
        (Sum, lambda value: {"kind": "sum", "of": [value]}),
        (One, lambda value: {"one": value, "rest": value}),
        (Left, lambda value: {"left": value}),
        (Node, lambda value: {"value": [value]}),
    ],
)
def test_what_is_taken_is_read_in_little_time(model: Any, wrap: Any) -> None:
    levels = 10 if model is One else 28  # its value is a tree, which doubles by itself
    assert cost(model, levels, wrap) < 0.1

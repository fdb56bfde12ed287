"""A branch that another one contains adds nothing to a union, so that what is left may be none."""

from __future__ import annotations

import enum
from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from mcp_anyrev.declaring.model_schemas import schema_of
from mcp_contract.simplification import NotSimplifiable, plain
from pydantic import BaseModel, Field

TEXT = {"type": "string"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


class Colour(enum.Enum):
    RED = "red"


class Cat(BaseModel):
    name: str


def of_member(member: Any, **beside: Any) -> Any:
    return plain({"type": "object", "properties": {"m": member}, **beside}).schema["properties"]["m"]


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (datetime | str, TEXT),
        (str | datetime, TEXT),
        (date | datetime, TEXT),
        (date | datetime | None, TEXT),
        (Colour | str, TEXT),
        (Literal["a"] | str | None, TEXT),
        (Colour | str | int, {"type": ["string", "integer"]}),
        (Annotated[int, Field(ge=1)] | float, {"type": "number"}),
        (Annotated[str, Field(min_length=3)] | Annotated[str, Field(min_length=1)], {"type": "string", "minLength": 1}),
        (list[datetime] | list[str], {"type": "array", "items": TEXT}),
        (list[date] | list[datetime], {"type": "array", "items": TEXT}),
        (list[str] | list[Any], {"type": "array", "items": {}}),
        (Cat | dict[str, Any], {"type": "object", "additionalProperties": True}),
    ],
)
def test_what_is_written_in_python_is_no_union_any_more(annotation: Any, said: Any) -> None:
    class Arguments(BaseModel):
        m: annotation  # type: ignore[valid-type]  # made at run time

    schema = plain(schema_of(Arguments)).schema["properties"]["m"]
    assert {keyword: value for keyword, value in schema.items() if keyword not in ("title", "default")} == said


@pytest.mark.parametrize(
    "member",
    [
        {"oneOf": [{"enum": ["a"]}, TEXT]},
        {"anyOf": [{"const": 1}, TEXT]},
        {"anyOf": [{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 1}]},
        {"anyOf": [{"type": "string", "pattern": "a"}, {"const": "b"}]},
        {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 1}]},
        {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
    ],
)
def test_what_no_other_branch_contains_for_certain_stays(member: Any) -> None:
    with pytest.raises(NotSimplifiable):
        of_member(member)


def test_a_format_counts_where_the_dialect_says_so() -> None:
    member = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "email"}]}
    assert of_member(member) == TEXT
    with pytest.raises(NotSimplifiable):
        of_member(member, **{"$schema": DRAFT_7})
    assert of_member({"anyOf": [{"type": "string", "format": "date"}, TEXT]}, **{"$schema": DRAFT_7}) == TEXT


def test_a_format_that_all_branches_have_stays() -> None:
    member = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date", "minLength": 3}]}
    assert of_member(member) == {"type": "string", "format": "date"}

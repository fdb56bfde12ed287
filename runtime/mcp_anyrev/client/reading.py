"""Reading what a server gives into canonical values.

Rule: what has another form than the protocol gives it is the server's fault, and the words name the members.
Specification: basic/index#responses
"""

from __future__ import annotations

from typing import Any, TypeVar

from mcp_contract.validators import describe
from pydantic import BaseModel, ValidationError

from mcp_anyrev.client.errors import WrongAnswer

Model = TypeVar("Model", bound=BaseModel)


def read(model: type[Model], value: Any, what: str) -> Model:
    """A value as it came → a canonical one.

    Args:
        model: the canonical type.
        value: the value.
        what: what it is, for words.

    Raises:
        WrongAnswer: it is none of that type; the text names the members.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise WrongAnswer(f"{what} has another form than the protocol gives it: {describe(error, value)}") from None

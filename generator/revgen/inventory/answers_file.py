"""What a file with the answers of one revision may hold, as `revgen remove` keeps it and `revgen new` takes it in.

Rule: a model checks what the file says by itself; which concerns there are is known only where it is taken in.
"""

from __future__ import annotations

from typing import Annotated, Any

import pydantic

from ..reading.literals import Boolean
from ..reading.located import Scalar
from ..reading.models import ByKey, Part, Text, not_allowed
from ..schemas.published import Correction
from ..schemas.revisions import Digest
from .area_file import ChoiceAnswer, TableAnswer, ValueAnswer


def _number(node: Any) -> int:
    if not isinstance(node, Scalar) or not (node.isascii() and node.isdigit()) or len(node) > 4 or int(node) == 0:
        raise not_allowed("the number of a place in the list of corrections, from 1")
    return int(node)


Number = Annotated[
    int, pydantic.PlainValidator(_number), pydantic.WithJsonSchema({"type": "string", "pattern": r"^0*[1-9]\d*$"})
]
"""The place of an item in a list, from 1, as a key."""

AnyAnswer = Annotated[
    Annotated[ValueAnswer, pydantic.Tag("is")]
    | Annotated[TableAnswer, pydantic.Tag("rows")]
    | Annotated[ChoiceAnswer, pydantic.Tag("choice")],
    ByKey("is", "rows", "choice"),
]


class Declaration(Part):
    """The revision's entry among the revisions; what is not said has a default, and a whole one goes in as it stands."""

    model_config = pydantic.ConfigDict(title="section")

    source: Text | None = None
    """The address of the schema as it was published."""
    sha256: Digest | None = None
    """The digest of that file; that of the schema which is taken in counts."""
    pages: Text | None = None
    """The address that the paths of citations follow."""
    reference: Text | None = None
    """The address of the page that has an anchor for each published definition."""
    draft: Boolean | None = None
    """Whether it is served only where it is named; where it is not said, its name decides."""


class AnswersFile(Part):
    """The answers of one revision, each exactly as it stands in its area, under the concern's name instead of the revision's."""

    model_config = pydantic.ConfigDict(title="file")

    after: Text | None = None
    """The revision that it follows, or `none` for the oldest; where it is not said, its name decides, which has to be a date."""
    revision: Declaration | None = None
    """What is known of the revision besides its schema."""
    pages: Text = ""
    """The text of the file that tells of its pages."""
    corrections: dict[Number, Correction] = pydantic.Field(default_factory=dict)
    """The corrections of its schema, each by the place that it takes in the list of all."""
    answers: dict[Text, dict[Text, AnyAnswer]] = pydantic.Field(default_factory=dict)
    """The answers by area and concern."""

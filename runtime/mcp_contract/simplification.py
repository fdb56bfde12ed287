"""Input schemas of tools for clients that read less of JSON Schema than was declared.

Rule: for every value, what a simplified schema accepts, the declared one accepts once missing required nullable members are read
as null (`MissingMembers`); what the declared one accepts, the simplified one accepts once the null members that it does not take
are left out. Nothing is changed that this does not allow, and nothing given is changed in place.

Two decisions that follow from the rule. Null in the items of an array cannot be left out, so it stays, at the plain level as one
of the names in `type` or one of the values in `enum`. A member that takes anything, null among it, says nothing of null and stays
as it is.
Specification: server/tools#tool, basic/index#json-schema-usage
"""

from __future__ import annotations

from mcp_contract.messages import JsonObject
from mcp_contract.schema_checks import InvalidSchema, check_input_schema
from mcp_contract.schema_keywords import Schema, Step, at, with_subschemas
from mcp_contract.schema_limits import Measure, NotSimplifiable, check_limits
from mcp_contract.schema_loss import Loss, Simplified
from mcp_contract.schema_missing import MissingMembers
from mcp_contract.schema_null import null_left_out
from mcp_contract.schema_plain import written_out
from mcp_contract.schema_references import Document

__all__ = [
    "HEADER_ANNOTATION",
    "InvalidSchema",
    "Loss",
    "MissingMembers",
    "NotSimplifiable",
    "Simplified",
    "check_input_schema",
    "plain",
    "without_header_annotations",
    "without_null",
]

HEADER_ANNOTATION = "x-mcp-header"


def without_null(schema: JsonObject) -> Simplified:
    """A schema whose nullable members have lost their null; otherwise as declared.

    A schema that cannot be followed as a whole (an unknown dialect, dynamic references, references that lead nowhere or in a
    circle) comes back as it is, since what applies where is then not known.

    Args:
        schema: an input schema, as `check_input_schema` lets it pass.

    Raises:
        NotSimplifiable: it is too large to be walked through.
    """
    check_limits(schema)
    losses: list[Loss] = []
    document = Document(schema)
    if document.obstacle is not None:
        return Simplified(schema, ())
    try:
        return Simplified(null_left_out(document, losses), tuple(losses))
    except NotSimplifiable:
        return Simplified(schema, ())


def plain(schema: JsonObject) -> Simplified:
    """A schema without nullable members, references, definitions and composition.

    Args:
        schema: an input schema, as `check_input_schema` lets it pass.

    Raises:
        NotSimplifiable: no such schema says the same, or it would be too large; the error says where and why.
    """
    check_limits(schema)
    losses: list[Loss] = []
    # References first: what is written out once for each use can lose its null where that use allows it.
    written = written_out(Document(schema), losses)
    Measure().check(written, "")
    result = null_left_out(Document(written), losses)
    return Simplified(result, tuple(dict.fromkeys(losses)))


def without_header_annotations(schema: JsonObject) -> Simplified:
    """A schema without the annotations that ask for an argument to be mirrored in a header.

    A client that does not know them would not mirror anything. Only annotations go: a member of that name stays.

    Args:
        schema: any schema.

    Raises:
        NotSimplifiable: it is too large to be walked through.
    """
    check_limits(schema)
    losses: list[Loss] = []

    def stripped(pointer: str, node: Schema) -> Schema:
        if not isinstance(node, dict):
            return node

        def inner(steps: tuple[Step, ...], subschema: Schema) -> Schema:
            return stripped(at(pointer, *steps), subschema)

        if HEADER_ANNOTATION in node:
            losses.append(
                Loss(at(pointer, HEADER_ANNOTATION), f"{HEADER_ANNOTATION} goes", "nobody would send the header")
            )
            node = {keyword: value for keyword, value in node.items() if keyword != HEADER_ANNOTATION}
        return with_subschemas(node, inner)

    result: JsonObject = stripped("", schema)
    return Simplified(result, tuple(losses))

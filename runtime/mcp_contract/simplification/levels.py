"""The levels of simplification, each from a declared schema and never from another level's result.

Rule: measured first, then the whole schema is read once; a level that cannot be reached without a loss in meaning is refused, or
leaves the schema as declared.
"""

from __future__ import annotations

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.composition import written_out
from mcp_contract.simplification.keywords import Schema, Step, at, with_subschemas
from mcp_contract.simplification.limits import Measure, NotSimplifiable, check_limits
from mcp_contract.simplification.loss import Loss, Simplified
from mcp_contract.simplification.null import null_left_out
from mcp_contract.simplification.references import Document

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

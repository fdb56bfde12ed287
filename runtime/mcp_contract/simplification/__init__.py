"""Input schemas of tools for clients that read less of JSON Schema than was declared.

Rule: for every value, what a simplified schema accepts, the declared one accepts once missing required nullable members are read
as null (`MissingMembers`); what the declared one accepts, the simplified one accepts once the null members that it does not take
are left out. Nothing is changed that this does not allow, and nothing given is changed in place.

Two decisions that follow from the rule. Null in the items of an array cannot be left out, so it stays, at the plain level as one
of the names in `type` or one of the values in `enum`. A member that takes anything, null among it, says nothing of null and stays
as it is.
Specification: server/tools#tool, basic/index#json-schema-usage
"""

from mcp_contract.simplification.checks import InvalidSchema, check_input_schema
from mcp_contract.simplification.levels import HEADER_ANNOTATION, plain, without_header_annotations, without_null
from mcp_contract.simplification.limits import NotSimplifiable
from mcp_contract.simplification.loss import Loss, Simplified
from mcp_contract.simplification.missing import MissingMembers

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

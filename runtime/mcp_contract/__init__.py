"""What generated adapters and the runtime agree on: errors by whose fault they are, and small codecs.

Rule: nothing here knows a revision, and nothing but the standard library and pydantic is imported. Generated code reaches
everything through this package (`from mcp_contract import …`), so this file is the complete list.
"""

from mcp_contract.content import as_one_block, audio_as_resource, link_as_text, without
from mcp_contract.errors import (
    CannotAsk,
    HandlerFault,
    HeaderMismatch,
    InternalError,
    InvalidParams,
    InvalidRequest,
    MethodNotAllowed,
    MethodNotFound,
    MissingClientCapability,
    MissingRequestMeta,
    OriginRefused,
    ParseError,
    PeerFault,
    ProtocolError,
    RemoteError,
    SessionMissing,
    SessionUnknown,
    UnsupportedVersion,
    VersionHeaderRefused,
)
from mcp_contract.frames import as_message, check_mirrored, is_identifier, member, named_headers
from mcp_contract.header_parameters import (
    HeaderParameter,
    InvalidAnnotation,
    check_param_headers,
    header_parameters,
    param_headers,
)
from mcp_contract.header_values import decode_header_value, encode_header_value
from mcp_contract.members import NotSendable, keep, leave_out, one_or_all
from mcp_contract.messages import RESERVED_LABELS, Answered, Declaration, Json, JsonObject, Questions
from mcp_contract.question_forms import with_names_beside_values
from mcp_contract.questions import questions_as_text, questions_in_meta, take_answers, with_answer_arguments
from mcp_contract.simplification import plain, without_header_annotations, without_null
from mcp_contract.validators import Validators

__all__ = [
    "RESERVED_LABELS",
    "Answered",
    "CannotAsk",
    "Declaration",
    "HandlerFault",
    "HeaderMismatch",
    "HeaderParameter",
    "InternalError",
    "InvalidAnnotation",
    "InvalidParams",
    "InvalidRequest",
    "Json",
    "JsonObject",
    "MethodNotAllowed",
    "MethodNotFound",
    "MissingClientCapability",
    "MissingRequestMeta",
    "NotSendable",
    "OriginRefused",
    "ParseError",
    "PeerFault",
    "ProtocolError",
    "Questions",
    "RemoteError",
    "SessionMissing",
    "SessionUnknown",
    "UnsupportedVersion",
    "Validators",
    "VersionHeaderRefused",
    "as_message",
    "as_one_block",
    "audio_as_resource",
    "check_mirrored",
    "check_param_headers",
    "decode_header_value",
    "encode_header_value",
    "header_parameters",
    "is_identifier",
    "keep",
    "leave_out",
    "link_as_text",
    "member",
    "named_headers",
    "one_or_all",
    "param_headers",
    "plain",
    "questions_as_text",
    "questions_in_meta",
    "take_answers",
    "with_answer_arguments",
    "with_names_beside_values",
    "without",
    "without_header_annotations",
    "without_null",
]

"""Whether a document is a JSON Schema: what the schema of its own dialect says.

Rule: whoever goes through a schema relies on this, and asks of no node again whether it is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from .normal_form import DIALECTS
from .pointers import escaped


def complaints(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a document as a schema: a pointer into it, and what is wrong there, each once.

    A document of a dialect that cannot be read is not judged.
    """
    dialect = str(schema.get("$schema", ""))
    if dialect.removesuffix("#") not in DIALECTS:
        return
    judge = jsonschema_rs.validator_for({"$schema": dialect, "$ref": dialect}, retriever=_refuse, validate_formats=True)
    found = {
        "".join(f"/{escaped(str(step))}" for step in error.instance_path): error.message
        for error in judge.iter_errors(schema)
    }
    yield from found.items()


def _refuse(address: str) -> Any:
    raise ValueError(f"nothing is fetched: {address}")

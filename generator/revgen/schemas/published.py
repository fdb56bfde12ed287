"""The schemas that everything is generated from: normal form as imported, then the corrections of `specs/corrections.yaml`.

Rule: a correction says what it expects to find. Where something else is found it is an error and not a surprise: the schema
was mended upstream, and the correction has had its day. One with `review` waits for a person to look at it.
"""

from __future__ import annotations

import copy
import functools
import json
import pathlib
from collections.abc import Iterable
from typing import Annotated, Any, Self

import pydantic

from ..reading.json_text import place_in, read_json
from ..reading.located import Place, Problems, Scalar, load
from ..reading.models import Forgiving, Part, Text, not_allowed, read, wrong
from .methods import doubled
from .normal_form import PUBLISHED, CannotNormalise, Schema, normalise
from .pointers import LeadsNowhere, follow, keys
from .revisions import Revision
from .shapes import published_names
from .validity import complaints

PATH = "specs/corrections.yaml"


def _json(node: Any) -> Any:
    allowed = "text, with JSON in it"
    if not isinstance(node, Scalar):
        raise not_allowed(allowed)
    try:
        return json.loads(node)
    except json.JSONDecodeError as error:
        raise not_allowed(f"{allowed} ({error.msg} at character {error.pos + 1})") from None
    except RecursionError:
        raise not_allowed(f"{allowed} (this is nested too deep)") from None


def _pointer(node: Any) -> str:
    if not isinstance(node, Scalar) or not node.startswith("/"):
        raise not_allowed("a JSON pointer, which starts with '/'")
    return str(node)


JsonText = Annotated[
    Any, pydantic.PlainValidator(_json), pydantic.WithJsonSchema({"type": ["string", "number", "boolean", "null"]})
]
"""JSON in a text."""

Pointer = Annotated[
    str, pydantic.PlainValidator(_pointer), pydantic.WithJsonSchema({"type": "string", "pattern": "^/"})
]
"""A JSON pointer to something within a document."""


class Correction(Part):
    """One known defect of a published schema, and what is true instead."""

    model_config = pydantic.ConfigDict(title="correction")

    revision: Text
    """The revision whose schema it is."""
    pointer: Pointer
    """Where the defect is in the normal form."""
    expected: JsonText
    """What stands there, as JSON; where it no longer does, the correction has had its day."""
    value: JsonText
    """What should stand there, as JSON."""
    reason: Text
    """Why that is so."""
    source: Text
    """Where it can be read."""
    review: Text | None = None
    """Why a person has yet to look at it; taking this away says that somebody has."""

    @pydantic.model_validator(mode="after")
    def _changes_something(self) -> Self:
        if _same(self.expected, self.value):
            raise wrong("'value' is what is 'expected'; allowed: something else, or no correction", key="value")
        return self


class CorrectionsFile(Part):
    """Known defects of published schemas. They are made in the order of the list."""

    model_config = pydantic.ConfigDict(title="file")

    corrections: tuple[Annotated[Correction | None, Forgiving()], ...] = ()
    """The corrections of all revisions."""


def load_schemas(root: pathlib.Path, revisions: Iterable[Revision], problems: Problems) -> dict[str, Schema]:
    """The corrected schemas of all revisions, in their order, by version.

    Args:
        root: the folder that holds `specs`.
        revisions: all of them, oldest first.
        problems: receives everything that is wrong, with its place; a schema that cannot be used is left out.
    """
    revisions = tuple(revisions)
    corrections = load_corrections(root, revisions, problems)
    out = {}
    for revision in revisions:
        schema = load_schema(root, revision, problems)
        if schema is not None:
            mine = [correction for correction in corrections if correction.revision == revision.version]
            out[revision.version] = corrected(schema, mine, problems)
    return out


def load_schema(root: pathlib.Path, revision: Revision, problems: Problems) -> Schema | None:
    """One revision's schema in normal form, as it was imported; None, and a problem, where it cannot be used."""
    path = revision.schema_path
    try:
        content = (root / path).read_bytes()
    except OSError as error:
        problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
        return None
    already = len(problems.found)
    schema = read_json(content, path, problems)
    if len(problems.found) == already:
        for pointer, message in _complaints(content, revision.version):
            problems.add(place_in(content.decode("utf-8"), path, pointer), message)
    return schema if len(problems.found) == already else None


@functools.lru_cache(maxsize=64)  # most commands read the schemas again, before and after they change something else
def _complaints(content: bytes, version: str) -> tuple[tuple[str, str], ...]:
    """Why JSON is no schema in normal form whose methods can be told apart: pointers into it, and what is wrong there."""
    return tuple(_complaints_about(json.loads(content), version))


def _complaints_about(schema: Any, version: str) -> list[tuple[str, str]]:
    advice = f"'revgen import {version} FILE' writes one"
    if not isinstance(schema, dict) or not {"$defs", "$schema", PUBLISHED} <= schema.keys():
        return [("", f"not a schema in normal form; {advice}")]
    if found := list(complaints(schema)):
        return found
    try:
        normal = normalise(schema).schema
    except CannotNormalise as error:
        return [(pointer, f"not in normal form: {message}; {advice}") for pointer, message in error.located]
    if not _same(normal, schema) or not published_names(schema) <= schema["$defs"].keys():
        return [("", f"not in normal form; {advice}")]
    return [(f"/$defs/{name}", message) for name, message in doubled(schema)]


def load_corrections(root: pathlib.Path, revisions: Iterable[Revision], problems: Problems) -> tuple[Correction, ...]:
    """Read `specs/corrections.yaml`; no such file means no corrections.

    Args:
        root: the folder that holds `specs`.
        revisions: those that a correction may name.
        problems: receives everything that is wrong; an entry that has a problem is left out.
    """
    if not (root / PATH).exists():
        return ()
    file = read(CorrectionsFile, load(root, PATH, problems), problems)
    if file is None:
        return ()
    known = [revision.version for revision in revisions]
    kept = []
    for correction in file.corrections:
        if correction is None:
            continue
        if correction.review is not None:
            problems.mark(correction.key_place("review"), f"this correction is to be reviewed: {correction.review}")
        if correction.revision in known:
            kept.append(correction)
        else:
            place = correction.place_of("revision")
            problems.add(place, f"'{correction.revision}' is not a revision; revisions: {', '.join(known)}")
    return tuple(kept)


def corrected(schema: Schema, corrections: Iterable[Correction], problems: Problems) -> Schema:
    """A copy of a schema in normal form with its corrections made, in the order of the file.

    Args:
        schema: the schema as imported; it stays as it is.
        corrections: those of its revision.
        problems: receives a pointer that leads nowhere, an expectation that does not hold, and a result that is not in
            normal form; such a correction is not made.
    """
    corrections = tuple(corrections)
    out, quietly = copy.deepcopy(schema), Problems()
    if all(_made(out, correction, quietly) for correction in corrections) and (
        not corrections or _stays_normal(out, corrections[-1], quietly)
    ):
        return out
    out = copy.deepcopy(schema)  # one at a time says which is wrong
    for correction in corrections:
        candidate = copy.deepcopy(out)
        if _made(candidate, correction, problems) and _stays_normal(candidate, correction, problems):
            out = candidate
    return out


def _made(schema: Schema, correction: Correction, problems: Problems) -> bool:
    """Make one correction in place; False, and a problem, where it cannot be made."""
    above, _, last = correction.pointer.rpartition("/")
    try:
        follow(schema, correction.pointer)
        holder = follow(schema, above)
    except LeadsNowhere as error:
        here = error.reached or "/"
        what = (
            f"'{here}' is {json.dumps(error.value)}, so there is no '{error.missing}' in it"
            if not isinstance(error.value, dict | list)
            else f"there is no '{error.missing}' in '{here}'; there: {', '.join(error.there)}"
        )
        problems.add(correction.place_of("pointer"), f"pointer '{correction.pointer}': {what}")
        return False
    (key,) = keys(f"/{last}")
    return _replaced(holder, int(key) if isinstance(holder, list) else key, correction, problems)


def _replaced(node: Any, key: Any, correction: Correction, problems: Problems) -> bool:
    found = node[key]
    if not _same(found, correction.expected):
        advice = (
            "it has been mended upstream: remove this correction"
            if _same(found, correction.value)
            else "it may have been mended upstream"
        )
        problems.add(
            correction.place_of("expected"),
            f"'{correction.pointer}' is {json.dumps(found)}, but {json.dumps(correction.expected)} was expected; {advice}",
        )
        return False
    node[key] = copy.deepcopy(correction.value)
    return True


def _stays_normal(schema: Schema, correction: Correction, problems: Problems) -> bool:
    """Is a schema in normal form after a correction? A problem, where it is not."""
    try:
        normal = _same(normalise(schema).schema, schema)
    except CannotNormalise as error:
        problems.add(correction.place_of("value"), f"the corrected schema has no normal form: {error.problems[0]}")
        return False
    if not normal:
        problems.add(
            correction.place_of("value"),
            "the corrected schema is not in normal form: no prose, no inline objects, nothing that states nothing",
        )
    return normal


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

"""The schemas that everything is generated from: normal form as imported, then the corrections of `specs/corrections.yaml`.

Rule: a correction says what it expects to find. Where something else is found it is an error and not a surprise: the schema
was mended upstream, and the correction has had its day. One with `review` waits for a person to look at it.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pathlib
from collections.abc import Iterable
from collections.abc import Mapping as AnyMapping
from typing import Any

from ..reading.located import Mapping, Node, Place, Problems, Scalar, Sequence, kind, load
from .normal_form import PUBLISHED, CannotNormalise, Schema, normalise
from .pointers import LeadsNowhere, follow, keys
from .revisions import Revision

PATH = "specs/corrections.yaml"

_KEYS = ("revision", "pointer", "expected", "value", "reason", "source")
_ALLOWED = (*_KEYS, "review")


@dataclasses.dataclass(frozen=True)
class Correction:
    """One known defect of a published schema, and what is true instead."""

    revision: str
    pointer: str
    expected: Any
    value: Any
    reason: str
    source: str
    places: AnyMapping[str, Place]
    """Where each of its keys has its value."""


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
        schema = json.loads((root / path).read_text("utf-8"))
    except json.JSONDecodeError as error:
        problems.add(Place(path, error.lineno, error.colno), f"not JSON: {error.msg}")
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
        return None
    if not isinstance(schema, dict) or not {"$defs", "$schema", PUBLISHED} <= schema.keys():
        problems.add(
            Place(path, 1, 1), f"not a schema in normal form; 'revgen import {revision.version} FILE' writes one"
        )
        return None
    return schema


def load_corrections(root: pathlib.Path, revisions: Iterable[Revision], problems: Problems) -> tuple[Correction, ...]:
    """Read `specs/corrections.yaml`; no such file means no corrections.

    Args:
        root: the folder that holds `specs`.
        revisions: those that a correction may name.
        problems: receives everything that is wrong; an entry that has a problem is left out.
    """
    if not (root / PATH).exists():
        return ()
    top = load(root, PATH, problems)
    if top is None:
        return ()
    for key in top:
        if key != "corrections":
            problems.add(top.place_of(key), f"unknown key '{key}'; allowed: corrections")
    entries = top.get("corrections")
    if entries is None:
        return ()
    if not isinstance(entries, Sequence):
        problems.add(entries.place, f"'corrections' is a {kind(entries)}; allowed: a list of corrections")
        return ()
    known = [revision.version for revision in revisions]
    read = [_read(entry, known, problems) for entry in entries]
    return tuple(correction for correction in read if correction is not None)


def corrected(schema: Schema, corrections: Iterable[Correction], problems: Problems) -> Schema:
    """A copy of a schema in normal form with its corrections made, in the order of the file.

    Args:
        schema: the schema as imported; it stays as it is.
        corrections: those of its revision.
        problems: receives a pointer that leads nowhere, an expectation that does not hold, and a result that is not in
            normal form; such a correction is not made.
    """
    out = copy.deepcopy(schema)
    for correction in corrections:
        candidate = copy.deepcopy(out)
        if _made(candidate, correction, problems):
            out = candidate
    return out


def _read(entry: Node, known: list[str], problems: Problems) -> Correction | None:
    if not isinstance(entry, Mapping):
        problems.add(entry.place, f"a correction is a {kind(entry)}; allowed: a mapping with {', '.join(_KEYS)}")
        return None
    before = len(problems.found)
    texts: dict[str, str] = {}
    places: dict[str, Place] = {}
    for key in entry:
        node = entry[key]
        if key not in _ALLOWED:
            problems.add(entry.place_of(key), f"unknown key '{key}'; allowed: {', '.join(_ALLOWED)}")
        elif not isinstance(node, Scalar):
            problems.add(
                node.place,
                f"'{key}' is a {kind(node)}; allowed: text"
                + (", with JSON in it" if key in ("expected", "value") else ""),
            )
        else:
            texts[key], places[key] = node.text, node.place
    for key in _KEYS:
        if key not in entry:
            problems.add(entry.place, f"missing key '{key}'")
    values = {key: _json(texts[key], key, places[key], problems) for key in ("expected", "value") if key in texts}
    if "revision" in texts and texts["revision"] not in known:
        problems.add(places["revision"], f"unknown revision '{texts['revision']}'; known: {', '.join(known)}")
    if "pointer" in texts and not texts["pointer"].startswith("/"):
        problems.add(places["pointer"], f"pointer '{texts['pointer']}' does not start with '/'")
    if len(values) == 2 and len(problems.found) == before and _same(values["expected"], values["value"]):
        problems.add(places["value"], "'value' is what is 'expected': a correction that changes nothing is none")
    if "review" in texts:
        problems.mark(entry.place_of("review"), f"this correction is to be reviewed: {texts['review']}")
    if len(problems.found) > before:
        return None
    return Correction(
        revision=texts["revision"],
        pointer=texts["pointer"],
        expected=values["expected"],
        value=values["value"],
        reason=texts["reason"],
        source=texts["source"],
        places=places,
    )


def _json(text: str, key: str, place: Place, problems: Problems) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problems.add(place, f"'{key}' is not JSON: {error.msg} at character {error.pos + 1} of {text!r}")
        return None


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
        problems.add(correction.places["pointer"], f"pointer '{correction.pointer}': {what}")
        return False
    (key,) = keys(f"/{last}")
    return _replaced(schema, holder, int(key) if isinstance(holder, list) else key, correction, problems)


def _replaced(schema: Schema, node: Any, key: Any, correction: Correction, problems: Problems) -> bool:
    found = node[key]
    if not _same(found, correction.expected):
        advice = (
            "it has been mended upstream: remove this correction"
            if _same(found, correction.value)
            else "it may have been mended upstream"
        )
        problems.add(
            correction.places["expected"],
            f"'{correction.pointer}' is {json.dumps(found)}, but {json.dumps(correction.expected)} was expected; {advice}",
        )
        return False
    node[key] = correction.value
    try:
        normal = _same(normalise(schema).schema, schema)
    except CannotNormalise as error:
        problems.add(correction.places["value"], f"the corrected schema has no normal form: {error.problems[0]}")
        return False
    if not normal:
        problems.add(
            correction.places["value"],
            "the corrected schema is not in normal form: no prose, no inline objects, nothing that states nothing",
        )
    return normal


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

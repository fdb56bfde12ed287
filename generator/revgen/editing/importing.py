"""A published schema becomes a fact of this project: `specs/schemas/<revision>.json`, and its entry in `specs/revisions.yaml`.

Rule: all or nothing. Nothing is written before the normal form has been shown to give the verdicts of the original, and the same
file imported again leaves the same bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Mapping

import yaml

from ..documents.editor_schemas import editor_line
from ..reading.json_text import place_in, read_json
from ..reading.located import Place, Problems, SpecificationError
from ..schemas.keywords import load_harmless, without_keywords
from ..schemas.methods import doubled
from ..schemas.normal_form import CannotNormalise, Normalised, Schema, name_conflicts, normalise
from ..schemas.revisions import PATH, is_date, name_problem, order_problem, schema_path, twin_problem
from ..schemas.validity import complaints
from ..writing import files
from .inventory_files import cut_removed
from .proof import Proof, Unproven, prove
from .yaml_lines import Document, Piece, scalar

_REPOSITORY = "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema"
_PAGES = "https://modelcontextprotocol.io/specification"
_HEAD = f"{editor_line('revisions', PATH)}# The revisions, oldest first: the only ordering there is. A revision's `reference` is its page with an anchor per definition.\n"


class ImportRefused(Exception):
    """A revision cannot be imported as it was asked for, and nothing was written. `problems` says all that is known about why."""

    def __init__(self, revision: str, problems: tuple[str, ...]) -> None:
        self.problems = tuple(f"{revision}: {problem}" for problem in problems)
        super().__init__("\n".join(self.problems))


@dataclasses.dataclass(frozen=True)
class ImportReport:
    """What an import did, or would do."""

    revision: str
    sha256: str
    """Of the published file."""
    published: int
    """How many definitions were published."""
    hoisted: tuple[str, ...]
    """The definitions that were made from inline objects."""
    steps: Mapping[str, int]
    """How often each kind of step was needed to reach the normal form."""
    proof: Proof
    """What both forms were compared on."""
    changed: tuple[str, ...]
    """The files that were written, or with `check_only` would be; none where everything is there already."""


@dataclasses.dataclass(frozen=True)
class Prepared:
    """An import before it is written: its report, the texts that change by path, the schema in normal form, all revisions then."""

    report: ImportReport
    texts: dict[str, str]
    schema: Schema
    versions: tuple[str, ...]
    before: Schema | None = None
    """The schema whose place it takes, where that says something else."""


@dataclasses.dataclass(frozen=True)
class Declared:
    """What is known of a revision besides its schema; what is None has a default, or stays as the entry says.

    Attributes:
        source: the address that the schema was published at; by default the official repository.
        pages: the address that the paths of citations follow; by default the official site.
        reference: the page with an anchor for each definition; empty where there is none, by default that of the official site.
        after: the revision that it follows, empty for the first; by default its name decides, which has to be a date.
        draft: whether it is served only where it is named; by default a name that is no date is.
        entry: its entry as it stood before it was taken out, which comes back with all that it says; what else is known here goes before.
    """

    source: str | None = None
    pages: str | None = None
    reference: str | None = None
    after: str | None = None
    draft: bool | None = None
    entry: Piece | None = None


def import_schema(
    root: pathlib.Path,
    revision: str,
    published: bytes,
    declared: Declared | None = None,
    *,
    path: str = "schema.json",
    check_only: bool = False,
) -> ImportReport:
    """Bring a published schema into normal form, prove it, and write it down with its entry in `specs/revisions.yaml`.

    Args:
        root: the folder that holds `specs`.
        revision: what the revision is called on the wire.
        published: the file as it was published.
        declared: what else is known of it.
        path: how complaints name that file.
        check_only: prove, and say what would change, but write nothing.

    Raises:
        ImportRefused: as `prepare_import` does, and where another schema takes the place of one without a source.
        SpecificationError: as `prepare_import` does.
    """
    declared = declared or Declared()
    prepared = prepare_import(root, revision, published, declared, path=path)
    if not check_only:
        require_source(prepared, declared)
        files.apply(root, prepared.texts)
    return prepared.report


def require_source(prepared: Prepared, declared: Declared) -> None:
    """Refuse another schema for a revision that has one, unless somebody says where it was published.

    Raises:
        ImportRefused: nobody does.
    """
    if prepared.before is not None and declared.source is None:
        revision = prepared.report.revision
        message = f"the schema says something else than {schema_path(revision)}; name the address that it was published at with --source"
        raise ImportRefused(revision, (message,))


def prepare_import(
    root: pathlib.Path, revision: str, published: bytes, declared: Declared, *, path: str = "schema.json"
) -> Prepared:
    """Do all of an import but for the writing.

    Args:
        root: the folder that holds `specs`.
        revision: what the revision is called on the wire.
        published: the file as it was published.
        declared: what else is known of it.
        path: how complaints name that file.

    Raises:
        ImportRefused: where the revision cannot be called so, or stand where it should, where a name for an inline object means something
            else in another revision, or where the normal form is not proven to keep its verdicts.
        SpecificationError: with everything that is wrong with the file, at its place: it is no JSON, no schema, has no normal form, or
            has a method twice.
    """
    if complaint := name_problem(revision) or twin_problem(revision, _declared(root)):
        raise ImportRefused(revision, (complaint,))
    digest = hashlib.sha256(published).hexdigest()
    entries, versions = _entries(root, revision, digest, declared)
    problems = Problems()
    harmless = load_harmless(root, problems)
    original = _parsed(published, path, problems)
    original, left_out = without_keywords(original, harmless)
    normal = _normal(original, published.decode("utf-8"), path)
    if conflicts := name_conflicts(normal.schema, _others(root, revision)):
        raise ImportRefused(revision, tuple(conflicts))
    try:
        proof = prove(original, normal.schema)
    except Unproven as error:
        raise ImportRefused(revision, (f"the normal form is not proven: {error}",)) from error
    texts = {schema_path(revision): schema_text(normal.schema), PATH: entries}
    changed = {path: text for path, text in texts.items() if _current(root / path) != text}
    hoisted = tuple(normal.hoisted)
    steps = {**normal.steps, **{f"'{keyword}' left out as harmless": count for keyword, count in left_out.items()}}
    report = ImportReport(revision, digest, len(normal.published), hoisted, steps, proof, tuple(changed))
    before = _current(root / schema_path(revision)) if schema_path(revision) in changed else None
    return Prepared(report, changed, normal.schema, versions, _read_schema(before))


def _read_schema(text: str | None) -> Schema | None:
    """A schema as it stands in `specs/schemas`; None where there is none, or none that can be read."""
    try:
        found = json.loads(text) if text is not None else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "$defs" in found else None


def _declared(root: pathlib.Path) -> list[str]:
    """The revisions that there are, whatever else may be wrong with them."""
    text = _current(root / PATH)
    try:
        document = Document(PATH, text or "")
    except SpecificationError:
        return []
    return list(document.children(document.find("revisions")))


def schema_text(schema: Schema) -> str:
    """A schema as it stands in `specs/schemas`."""
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _parsed(published: bytes, path: str, problems: Problems) -> Schema:
    found = read_json(published, path, problems)
    problems.stop_if_any()
    if not isinstance(found, dict):
        problems.add(Place(path, 1, 1), "the top level is no object; allowed: a schema with definitions")
    else:
        for pointer, message in complaints(found):
            problems.add(place_in(published.decode("utf-8"), path, pointer), f"no schema: {message}")
    problems.stop_if_any()
    schema: Schema = found
    return schema


def _normal(original: Schema, text: str, path: str) -> Normalised:
    """The normal form of a schema, in which each method is described once."""
    problems = Problems()
    try:
        normal = normalise(original)
        wrong = [(f"/$defs/{name}", message) for name, message in doubled(normal.schema)]
    except CannotNormalise as error:
        wrong = error.located
    for pointer, message in wrong:
        # The normal form calls them otherwise than a file of an older dialect.
        written = pointer if "$defs" in original else pointer.replace("/$defs/", "/definitions/", 1)
        problems.add(place_in(text, path, written), f"{written}: {message}")
    problems.stop_if_any()
    return normal


def _others(root: pathlib.Path, revision: str) -> dict[str, Schema]:
    folder = root / "specs" / "schemas"
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths if path.stem != revision}


def _entries(root: pathlib.Path, revision: str, digest: str, declared: Declared) -> tuple[str, tuple[str, ...]]:
    """The text of `specs/revisions.yaml` with the revision's entry brought up to date, all other lines kept; and the order."""
    try:
        document = Document(PATH, _current(root / PATH) or f"{_HEAD}revisions: {{}}\n")
        top = document.find("revisions")
        if not isinstance(top, yaml.MappingNode):
            raise ImportRefused(revision, (f"{PATH} has no mapping 'revisions'",))
        entries = document.entries(top)
        if revision in entries:
            _bring_up_to_date(document, document.children(top)[revision], digest, declared)
            return document.text, tuple(entries)
        position = _position(list(entries), revision, declared.after)
        if complaint := order_problem([*list(entries)[:position], revision, *list(entries)[position:]]):
            raise ImportRefused(revision, (complaint,))
        cut_removed(document, revision)
        piece = _entry(revision, digest, declared) if declared.entry is None else _as_it_was(revision, digest, declared)
        if entries:
            following = list(entries.values())[position : position + 1]
            line = following[0].start if following else max(entry.end for entry in entries.values())
            document.add(line, piece.lines(f'"{revision}"', next(iter(entries.values())).indent))
        else:
            document.replace_line(top.start_mark.line, "revisions:\n")
            document.add(top.start_mark.line, piece.lines(f'"{revision}"', 2))
    except SpecificationError as error:
        raise ImportRefused(revision, tuple(map(str, error.problems))) from error
    versions = list(entries)
    versions.insert(position, revision)
    return document.text, tuple(versions)


def _entry(revision: str, digest: str, declared: Declared) -> Piece:
    facts = {
        "source": declared.source or f"{_REPOSITORY}/{revision}/schema.json",
        "sha256": digest,
        "pages": declared.pages or f"{_PAGES}/{revision}",
    }
    if declared.reference != "":
        facts["reference"] = declared.reference or f"{_PAGES}/{revision}/schema"
    draft = declared.draft or (declared.draft is None and not is_date(revision))
    lines = [f"  {key}: {scalar(value)}\n" for key, value in facts.items()]
    return Piece((), ":\n", (*lines, *(["  draft: yes\n"] if draft else [])))


def _as_it_was(revision: str, digest: str, declared: Declared) -> Piece:
    assert declared.entry is not None
    text = "".join(["revisions:\n", *declared.entry.lines(f'"{revision}"', 2)])
    document = Document(PATH, text)
    _bring_up_to_date(document, document.children(document.find("revisions"))[revision], digest, declared)
    document = Document(PATH, document.text)
    return document.entries(document.find("revisions"))[revision].piece


def _bring_up_to_date(document: Document, entry: yaml.Node, digest: str, declared: Declared) -> None:
    draft = None if declared.draft is None else "yes" if declared.draft else "no"
    facts = {"sha256": digest, "source": declared.source, "draft": draft}
    written = document.children(entry)
    for key, value in facts.items():
        if value is None:
            continue
        text = scalar(value) if key != "draft" else value
        if key in written:
            if written[key].value != value:
                document.replace_scalar(written[key], text)
        elif (key, value) != ("draft", "no") and (entries := document.entries(entry)):
            last = max(entries.values(), key=lambda entry: entry.end)
            document.add(last.end, Piece((), f": {text}\n", ()).lines(key, last.indent))


def _position(known: list[str], revision: str, after: str | None) -> int:
    if after is None and not is_date(revision):
        message = f"'{revision}' is no date, so it does not say where it stands; name the revision that it follows with --after"
        raise ImportRefused(revision, (message,))
    if after is None:
        # New ones are the newest as a rule; one that was taken out comes back to where its date puts it.
        return next(
            (index for index, version in enumerate(known) if is_date(version) and version > revision), len(known)
        )
    if after and after not in known:
        raise ImportRefused(
            revision, (f"'{after}', which it follows, is not a revision; revisions: {', '.join(known)}",)
        )
    return known.index(after) + 1 if after else 0


def _current(path: pathlib.Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None

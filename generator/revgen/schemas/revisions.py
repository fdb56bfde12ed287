"""The revisions that there are, oldest first, from `specs/revisions.yaml`.

Rule: the order of that file is the only ordering of revisions; no code compares their names to tell which one is newer.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import pydantic

from ..reading.literals import Boolean
from ..reading.located import Place, Problems, Scalar, load
from ..reading.models import Each, Part, Text, is_device, not_allowed, read
from .pages import FOLDER as PAGES
from .pages import Pages, load_pages, pages_path

PATH = "specs/revisions.yaml"

LONGEST_NAME = 64

_NAME = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_NAMES = f"letters and digits of ASCII, joined by '-', '.' or '_', {LONGEST_NAME} characters at most, and no device of Windows"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# What the name of something that comes before a final revision has behind that revision's.
_CANDIDATE = re.compile(r"[._-](?:alpha|beta|dev|draft|pre|preview|rc)(?:[._-]?\d+)*$", re.IGNORECASE)


def _version(node: Any) -> Scalar:
    if not isinstance(node, Scalar) or name_problem(node):
        raise not_allowed(_NAMES)
    if not node.quoted:
        raise not_allowed(f'"{node}", in quotes')
    return node


def _digest(node: Any) -> str:
    if not isinstance(node, Scalar) or not _DIGEST.fullmatch(node):
        raise not_allowed("64 hexadecimal digits in lower case")
    return str(node)


Version = Annotated[
    Scalar,
    pydantic.PlainValidator(_version),
    pydantic.WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$", "maxLength": LONGEST_NAME}),
]
"""The name of a revision, as a key; it keeps its place."""

Digest = Annotated[
    str,
    pydantic.PlainValidator(_digest),
    pydantic.WithJsonSchema({"type": "string", "pattern": f"^{_DIGEST.pattern}$"}),
]
"""SHA-256, in hexadecimal."""


class RevisionFacts(Part):
    """What is known of a revision besides its schema."""

    model_config = pydantic.ConfigDict(title="revision")

    source: Text
    """The address of the schema as it was published."""
    sha256: Digest
    """The digest of that file."""
    pages: Text
    """The address that the paths of citations follow."""
    reference: Text | None = None
    """The address of the page that has an anchor for each published definition, where the revision has such a page."""
    draft: Boolean = False
    """Whether it is served only where it is named: it was not published as a revision yet, or by others."""


class RevisionsFile(Part):
    """The revisions, oldest first: the only ordering there is."""

    model_config = pydantic.ConfigDict(title="file")

    revisions: Each[Version, RevisionFacts]
    """Each revision by the name that it has on the wire, quoted."""
    removed: tuple[Version, ...] = ()
    """Revisions that were taken out and may come back: what only they had is waited for."""


@dataclasses.dataclass(frozen=True)
class Revision:
    """One published revision of the protocol."""

    version: str
    """As it is negotiated on the wire."""
    module: str
    """The name of its package within `mcp_revisions`."""
    source: str
    """The address of the schema as it was published."""
    sha256: str
    """The digest of that file."""
    pages: str
    """The address that the paths of citations follow."""
    reference: str | None
    """The address of the page that has an anchor for each published definition, where the revision has such a page."""
    place: Place
    """Where the revision is declared."""
    draft: bool = False
    """Whether it is served only where it is named: it was not published as a revision yet, or by others."""
    known: Pages | None = None
    """Its pages and their headings; None where nobody has written them down."""

    @property
    def schema_path(self) -> str:
        """Its schema in normal form, relative to the root."""
        return schema_path(self.version)

    @property
    def reference_page(self) -> str | None:
        """The reference page as a citation would name it."""
        return self.reference.removeprefix(f"{self.pages}/") if self.reference else None

    def explains(self, definition: str) -> bool:
        """Whether the reference page has a heading for a published definition; where nobody knows its headings, it should."""
        page = self.reference_page
        return page is not None and (self.known is None or self.known.has(page, definition.lower()))

    def link(self, definition: str) -> str:
        """The address to read about a published definition: its place on the reference page, else its line in the schema."""
        if self.explains(definition):
            return f"{self.reference}#{definition.lower()}"
        line = self.known.lines.get(definition) if self.known is not None else None
        return self.source if line is None else f"{self.source}#L{line}"


def schema_path(version: str) -> str:
    """The file of a revision's schema in normal form, relative to the root."""
    return f"specs/schemas/{version}.json"


def module_name(version: str) -> str:
    """The name of a revision's package: `v` and the revision, with what no name may have as underscores."""
    return "v" + re.sub(r"[^A-Za-z0-9]", "_", version)


def name_problem(version: str) -> str:
    """Why a text is no name for a revision, and what is allowed; empty where it is one.

    Files and packages are called after it, so it is judged before anything is written.
    """
    if not _NAME.fullmatch(version) or len(version) > LONGEST_NAME or is_device(version):
        return f"'{version}' is not a revision; allowed: {_NAMES}"
    return ""


def is_date(version: str) -> bool:
    """Whether a name is a date, as those of published revisions are, so that it says itself where it stands."""
    return _DATE.fullmatch(version) is not None


def final_of(version: str) -> str | None:
    """The revision that one with this name is a candidate for; None for any other name."""
    match = _CANDIDATE.search(version)
    return version[: match.start()] if match else None


def order_problem(order: Sequence[str]) -> str:
    """Why revisions cannot stand in an order, oldest first; empty where they can."""
    for place, version in enumerate(order):
        final = final_of(version)
        if final in order[:place]:
            return f"{version} stands behind {final}, and a candidate never outranks its final; allowed: before it"
    return ""


def twin_problem(version: str, others: Iterable[str]) -> str:
    """Why a revision cannot be beside others; empty where it can."""
    for other in others:
        if other != version and module_name(other).casefold() == module_name(version).casefold():
            return f"revision {version} and {other} would both be the package '{module_name(version)}'"
    return ""


def load_revisions(root: pathlib.Path, problems: Problems) -> tuple[Revision, ...]:
    """Read the revisions, oldest first.

    Args:
        root: the folder that holds `specs`.
        problems: receives everything that is wrong, with its place; a revision that has a problem is left out.
    """
    file = read(RevisionsFile, load(root, PATH, problems), problems)
    if file is None:
        return ()
    kept: dict[str, Revision] = {}
    for version, facts in file.revisions.items():
        # Files are called after it.
        if facts is None or name_problem(version):
            continue
        revision = _revision(root, version, facts, problems)
        if complaint := twin_problem(version, kept):
            problems.add(version.place, complaint)
        elif revision is not None:
            kept[version] = revision
    if not file.revisions:
        problems.add(Place(PATH, 1, 1), "there are no revisions; allowed: one at least")
    elif all(revision.draft for revision in kept.values()) and len(kept) == len(file.revisions):
        first = next(iter(kept.values()))
        problems.add(
            first.place, "every revision is a draft, so that none is served by default; allowed: a final one at least"
        )
    if complaint := order_problem(list(kept)):
        problems.add(kept[complaint.partition(" ")[0]].place, complaint)
    for number, version in enumerate(file.removed):
        if version in file.removed[:number]:
            problems.add(version.place, f"'{version}' stands twice here; allowed: once")
        if version in file.revisions:
            problems.add(version.place, f"'{version}' is a revision, and not removed; allowed: one that was taken out")
    _remark_on_stray_pages(root, tuple(file.revisions), problems)
    return tuple(kept.values())


def load_removed(root: pathlib.Path) -> tuple[str, ...]:
    """The revisions that were taken out and may come back; what is wrong with their file `load_revisions` says."""
    file = read(RevisionsFile, load(root, PATH, unheard := Problems()), unheard)
    return tuple(map(str, file.removed)) if file is not None else ()


def _remark_on_stray_pages(root: pathlib.Path, versions: tuple[str, ...], problems: Problems) -> None:
    expected = {pages_path(version) for version in versions}
    for file in sorted((root / PAGES).glob("*")):
        path = file.relative_to(root).as_posix()
        if path not in expected:
            problems.remark(
                Place(path, 1, 1), f"no revision has its pages here; allowed: {', '.join(sorted(expected))}"
            )


def _revision(root: pathlib.Path, key: Scalar, facts: RevisionFacts, problems: Problems) -> Revision | None:
    """A revision with what other files tell of it; None where it has no schema. Pages that cannot be used count as unknown."""
    version = str(key)
    if not (root / schema_path(version)).is_file():
        problems.add(key.place, f"there is no {schema_path(version)}; 'revgen import {version} FILE' writes it")
        return None
    before = len(problems.found)
    known = load_pages(root, version, problems)
    if len(problems.found) > before:
        known = None
    elif known is None:
        path = pages_path(version)
        problems.remark(
            key.place,
            f"there is no {path}, so citations are not held against the pages of {version}; "
            f"'revgen pages {version} FOLDER' writes it",
        )
    return Revision(
        version=version,
        module=module_name(version),
        source=facts.source,
        sha256=facts.sha256,
        pages=facts.pages.rstrip("/"),
        reference=facts.reference,
        place=key.place,
        known=known,
        draft=facts.draft,
    )

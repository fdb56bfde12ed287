"""Takes a revision out of `specs/`: its entry, its schema, its pages, its corrections and each of its answers.

Rule: only lines of that revision go. What was there for its sake alone (a choice, a rule of `canonical.yaml`) belongs to the project and
stays, with its macro; `lint` remarks that nothing uses it any more.
"""

from __future__ import annotations

import dataclasses
import pathlib

from ..reading.located import Problems
from ..schemas.pages import pages_path
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision, load_revisions
from .answers_file import RevisionAnswers
from .importing import Declared
from .inventory_files import add_removed, concerns, correction_entries, open_areas, open_document
from .yaml_lines import Document, Piece


@dataclasses.dataclass(frozen=True)
class Removal:
    """What taking a revision out means.

    Attributes:
        texts: what each file of `specs/` is to hold, by path; None where it is to go.
        kept: everything that goes, but for the schema, which was published elsewhere.
    """

    texts: dict[str, str | None]
    kept: RevisionAnswers


def take_out(root: pathlib.Path, version: str, *, may_come_back: bool) -> Removal:
    """Say what taking a revision out of `specs/` means; nothing is written.

    Args:
        root: the folder that holds `specs/`.
        version: one of its revisions, and not the only one.
        may_come_back: is it noted that it was there, so that what nothing but it knew waits for it?

    Raises:
        SpecificationError: a file cannot be edited by lines.
    """
    problems = Problems()
    revisions = load_revisions(root, problems)
    problems.stop_if_any()
    gone = next(revision for revision in revisions if revision.version == version)
    entries = open_document(root, REVISIONS)
    entry = entries.entries(entries.find("revisions"))[version]
    entries.cut(entry)
    if may_come_back:
        add_removed(entries, version)
    corrections = open_document(root, CORRECTIONS)
    corrected = _cut_corrections(corrections, version)
    areas = open_areas(root)
    answers = {name: _cut_answers(area, version) for name, area in areas.items()}
    edited = (entries, corrections, *areas.values())
    pages = root / pages_path(version)
    has_pages = pages.is_file()
    return Removal(
        texts={
            **{document.path: document.text for document in edited if document.text != "".join(document.source)},
            gone.schema_path: None,
            **({pages_path(version): None} if has_pages else {}),
        },
        kept=RevisionAnswers(
            declared=_declared(gone, revisions, entry.piece),
            corrections=corrected,
            answers={area: pieces for area, pieces in answers.items() if pieces},
            pages=pages.read_text("utf-8") if has_pages else "",
        ),
    )


def _declared(gone: Revision, revisions: tuple[Revision, ...], entry: Piece) -> Declared:
    place = revisions.index(gone)
    return Declared(source=gone.source, after=revisions[place - 1].version if place else "", entry=entry)


def _cut_answers(area: Document, version: str) -> dict[str, Piece]:
    pieces = {}
    for concern, node in concerns(area):
        answer = area.entries(node).get(version)
        if answer is not None:
            area.cut(answer)
            pieces[concern] = answer.piece
    return pieces


def _cut_corrections(corrections: Document, version: str) -> dict[int, Piece]:
    entries = correction_entries(corrections)
    mine = {number: entry for number, (revision, entry) in enumerate(entries, start=1) if revision == version}
    for entry in mine.values():
        corrections.cut(entry)
    if mine and len(mine) == len(entries):
        corrections.replace_line(corrections.entries(corrections.top)["corrections"].own, "corrections: []\n")
    return {number: entry.piece for number, entry in mine.items()}

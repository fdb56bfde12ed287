"""Takes a revision into `specs/`: an answer to every question, and the corrections of its schema.

Rule: nothing is answered by default. What is copied from another revision is marked, and `lint` remarks it until a person has looked; what
stands in an answers file was written for this revision, and goes in as it is.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..documents.editor_schemas import editor_line
from ..reading.located import Place, Problem, Problems, SpecificationError
from ..schemas.pages import pages_path
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.published import Correction, corrected, load_corrections
from ..schemas.revisions import load_revisions
from .answers_file import RevisionAnswers
from .inventory_files import add_answer, concerns, correction_entries, open_areas, open_document
from .yaml_lines import Document, Entry, Piece


@dataclasses.dataclass(frozen=True)
class Addition:
    """What taking a revision in means.

    Attributes:
        texts: what each file of the inventory, of corrections and of pages is to hold, by path.
        given: how many answers an answers file gave.
        copied: how many were copied from another revision.
        present: how many were there already.
        corrections: how many corrections go in.
    """

    texts: dict[str, str]
    given: int
    copied: int
    present: int
    corrections: int


def take_in(
    root: pathlib.Path,
    version: str,
    order: Sequence[str],
    schema: Mapping[str, Any],
    *,
    answers: RevisionAnswers | None = None,
    answers_path: str = "",
    like: str | None = None,
) -> Addition:
    """Say what taking a revision into the inventory means; nothing is written.

    Args:
        root: the folder that holds `specs/`.
        version: the revision.
        order: all revisions, oldest first, this one among them.
        schema: its schema in normal form.
        answers: what it answers; may leave questions to `like`.
        answers_path: how a complaint names the file of those answers.
        like: the revision that the rest is copied from.

    Raises:
        SpecificationError: a question has no answer, an answer no question, or a file cannot be edited by lines.
    """
    areas = open_areas(root)
    given = answers.answers if answers is not None else {}
    problems = _unasked(answers, areas, answers_path) if answers is not None else []
    counts = {"given": 0, "copied": 0, "present": 0}
    for name, area in areas.items():
        for concern, node in concerns(area):
            entries = area.entries(node)
            if node is None or version in entries:
                counts["present"] += 1
            elif concern in given.get(name, {}):
                add_answer(area, node, version, order, given[name][concern])
                counts["given"] += 1
            elif like is not None and like in entries:
                add_answer(area, node, version, order, entries[like].piece.marked(f"copied from {like}"))
                counts["copied"] += 1
            else:
                place = Place(answers_path or area.path, 1, 1)
                problems.append(Problem(place, f"no answer of '{concern}' ({name}) for {version}"))
    if problems:
        raise SpecificationError(problems)
    document = open_document(root, CORRECTIONS)
    if any(revision == version for revision, _ in correction_entries(document)):
        number = 0
    elif answers is not None and answers.corrections:
        number = _add_corrections(document, answers.corrections)
    else:
        number = _copy_corrections(root, document, version, like, schema) if like is not None else 0
    edited = [*areas.values(), document]
    texts = {document.path: document.text for document in edited if document.text != "".join(document.source)}
    if answers is not None and answers.pages:
        texts[pages_path(version)] = answers.pages
    return Addition(texts, **counts, corrections=number)


def _unasked(answers: RevisionAnswers, areas: Mapping[str, Document], path: str) -> list[Problem]:
    """Answers to questions that nobody asks."""
    asked = {name: {concern for concern, _ in concerns(area)} for name, area in areas.items()}
    return [
        Problem(Place(path, entry.own + 1, entry.indent + 1), f"'{concern}' is not a concern of area '{area}'")
        for (area, concern), entry in answers.places.items()
        if concern not in asked.get(area, ())
    ]


def _add_corrections(document: Document, corrections: Mapping[int, Piece]) -> int:
    """Put corrections in where the numbers of their places say; one whose place is beyond the end goes there."""
    known = [entry for _, entry in correction_entries(document)]
    for added, (number, piece) in enumerate(sorted(corrections.items())):
        before = min(number - 1 - added, len(known))
        _add_correction(document, known, before, piece)
    return len(corrections)


def _add_correction(document: Document, known: Sequence[Entry], before: int, piece: Piece) -> None:
    if known:
        line = known[before - 1].end if before > 0 else known[0].start
        document.add(line, piece.lines("-", known[0].indent))
        return
    key = document.entries(document.top).get("corrections")
    line = key.end if key is not None else len(document.source)
    if key is None and not document.touches(line):
        head = [] if document.source else [editor_line("corrections", CORRECTIONS)]
        document.add(line, [*head, "corrections:\n"])
    elif key is not None and not document.touches(key.own):
        document.replace_line(key.own, "corrections:\n")
    document.add(line, piece.lines("-", 2))


def _copy_corrections(
    root: pathlib.Path, document: Document, version: str, like: str, schema: Mapping[str, Any]
) -> int:
    """Copy the corrections of another revision that find what they expect in this one's schema too; each is marked."""
    problems = Problems()
    read = load_corrections(root, load_revisions(root, problems), problems)
    if problems.found:
        return 0  # `lint` says what is wrong with them
    entries = correction_entries(document)
    number = 0
    for correction, (revision, entry) in zip(read, entries, strict=True):
        if revision == like and fits(correction, schema):
            piece = _renamed(entry.piece, like, version).marked(f"copied from {like}")
            document.add(entry.end, piece.lines("-", entry.indent))
            number += 1
    return number


def fits(correction: Correction, schema: Mapping[str, Any]) -> bool:
    """Whether a correction finds in a schema what it expects."""
    problems = Problems()
    corrected(dict(schema), [correction], problems)
    return not problems.found


def _renamed(piece: Piece, old: str, new: str) -> Piece:
    def renamed(line: str) -> str:
        return line.replace(f'revision: "{old}"', f'revision: "{new}"')

    return dataclasses.replace(piece, first=renamed(piece.first), below=tuple(map(renamed, piece.below)))

"""The files that hold what one revision says, opened for editing: the areas of the inventory, the corrections, the revisions.

Rule: this knows where an entry of a revision stands, and neither what it says nor why it goes.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator

import yaml

from ..inventory.concerns import FOLDER
from ..reading.located import Place, Problem, Problems, SpecificationError
from ..schemas.revisions import load_revisions
from .yaml_lines import Document, Entry, Piece


def open_document(root: pathlib.Path, path: str) -> Document:
    """A file of `specs/`; an empty one where there is none.

    Raises:
        SpecificationError: it cannot be read, or is no YAML.
    """
    file = root / path
    try:
        # As bytes, since reading text would change the ends of lines.
        text = file.read_bytes().decode("utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError([Problem(Place(path, 1, 1), f"cannot be read: {error}")]) from error
    return Document(path, text)


def open_areas(root: pathlib.Path) -> dict[str, Document]:
    """The areas of the inventory by name, in the order of the file names."""
    paths = sorted((root / FOLDER).glob("*.yaml"), key=lambda path: path.name)
    return {path.stem: open_document(root, f"{FOLDER}/{path.name}") for path in paths}


def concerns(area: Document) -> Iterator[tuple[str, yaml.Node | None]]:
    """The concerns of an area, each with the node that holds its answers."""
    for name, node in area.children(area.find("concerns")).items():
        yield name, area.children(node).get("answers")


def correction_entries(corrections: Document) -> list[tuple[str, Entry]]:
    """The corrections in the order of the file, each with its revision."""
    node = corrections.find("corrections")
    items = node.value if isinstance(node, yaml.SequenceNode) else []
    entries = corrections.entries(node).values()
    named = (corrections.children(item).get("revision") for item in items)
    versions = [str(name.value) if name is not None else "" for name in named]
    return list(zip(versions, entries, strict=True))


def declared_versions(root: pathlib.Path) -> tuple[str, ...]:
    """The revisions that there are, oldest first.

    Raises:
        SpecificationError: their file cannot be used.
    """
    problems = Problems()
    revisions = load_revisions(root, problems)
    problems.stop_if_any()
    return tuple(revision.version for revision in revisions)


def add_removed(revisions: Document, version: str) -> None:
    """Say that a revision was taken out and may come back."""
    known = list(revisions.entries(revisions.find("removed")).values())
    lines = [f'  - "{version}"\n'] if known else ["removed:\n", f'  - "{version}"\n']
    revisions.add(known[-1].end if known else len(revisions.source), lines)


def cut_removed(revisions: Document, version: str) -> None:
    """No longer say so, since it is back."""
    node = revisions.find("removed")
    if not isinstance(node, yaml.SequenceNode):
        return
    entries = list(revisions.entries(node).values())
    for item, entry in zip(node.value, entries, strict=True):
        if item.value == version:
            if len(entries) == 1:
                key = revisions.entries(revisions.top)["removed"]
                # What stands above the key was the end of the file before there was one.
                entry = dataclasses.replace(key, start=key.own)
            revisions.cut(entry)


def add_answer(area: Document, answers: yaml.Node, version: str, order: Iterable[str], piece: Piece) -> None:
    """Put in a revision's answer, behind that of the nearest older one that has one, else before all.

    Args:
        area: the file.
        answers: the node that holds the answers of the concern.
        version: the revision.
        order: all revisions, oldest first.
        piece: the answer.

    Raises:
        SpecificationError: no revision has an answer there yet, so nothing shows how one is to stand.
    """
    entries = area.entries(answers)
    if not entries:
        raise area.complaint(answers.start_mark.line, answers.start_mark.column, "there is no answer to stand beside")
    older = [entries[known] for known in _until(order, version) if known in entries]
    line = older[-1].end if older else min(entry.start for entry in entries.values())
    indent = next(iter(entries.values())).indent
    area.add(line, piece.lines(f'"{version}"', indent))


def _until(order: Iterable[str], version: str) -> Iterator[str]:
    for known in order:
        if known == version:
            return
        yield known

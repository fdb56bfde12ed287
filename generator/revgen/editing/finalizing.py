"""Makes a draft the revision that it became: answers, marks, corrections and vectors go over, the schema is the published one.

Rule: what a person has looked at stays looked at where the schema says what it said; where it says something else there is a mark. Only
lines that name the draft change.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import yaml

from ..inventory.selection import PATH as SELECTION
from ..reading.located import Problems
from ..schemas.normal_form import Schema
from ..schemas.pages import pages_path
from ..schemas.pointers import LeadsNowhere, follow
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.published import load_corrections, load_schema
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import load_revisions, schema_path
from ..vectors.files import FOLDER as VECTORS
from ..vectors.files import MARK, mark_in, text_renamed
from .addition import fits
from .importing import Prepared
from .inventory_files import concerns, correction_entries, open_areas, open_document
from .yaml_lines import Document, Entry, scalar

Texts = dict[str, str | None]


@dataclasses.dataclass(frozen=True)
class Finalized:
    """What making a draft final means.

    Attributes:
        texts: what each file is to hold, by path; None where it is to go.
        answers: how many answers go over.
        marked: the concerns whose answers have to be looked at, since the schema says something else there.
        corrections: how many corrections go over.
        dropped: how many no longer find what they expect, and go.
    """

    texts: Texts
    answers: int
    marked: tuple[str, ...]
    corrections: int
    dropped: int


def finalize(root: pathlib.Path, draft: str, final: str, prepared: Prepared) -> Finalized:
    """Say what making a draft final means; nothing is written.

    Args:
        root: the folder that holds `specs/`.
        draft: a revision.
        final: the name that it has now.
        prepared: the import of its schema under that name, behind the draft.

    Raises:
        SpecificationError: a file cannot be used, or cannot be edited by lines.
    """
    problems = Problems()
    revision = next(one for one in load_revisions(root, problems) if one.version == draft)
    before = load_schema(root, revision, problems)
    problems.stop_if_any()
    assert before is not None
    texts: Texts = {
        **prepared.texts,
        schema_path(draft): None,
        REVISIONS: _entry_gone_over(prepared.texts[REVISIONS], draft, final),
    }
    answers, marked = _answers(root, draft, final, (before, prepared.schema), texts)
    corrections, dropped = _corrections(root, draft, final, prepared.schema, texts)
    selection = open_document(root, SELECTION)
    texts[SELECTION] = "".join(selection.source).replace(f'"{draft}"', f'"{final}"')
    if (root / pages_path(draft)).is_file():
        # The pages may say otherwise now, and are to be read again.
        texts[pages_path(draft)] = None
    _vectors(root, draft, final, before != prepared.schema, texts)
    return Finalized(texts, answers, tuple(marked), corrections, dropped)


def _entry_gone_over(text: str, draft: str, final: str) -> str:
    """The entry of the draft under the new name, with the values of the one that was made for it; comments stay."""
    document = Document(REVISIONS, text)
    top = document.find("revisions")
    assert isinstance(top, yaml.MappingNode)
    made, written = (document.children(document.children(top)[version]) for version in (final, draft))
    document.replace_scalar(next(key for key, _ in top.value if key.value == draft), f'"{final}"')
    for name, node in made.items():
        if name not in written:
            last = max(document.entries(document.find("revisions", draft)).values(), key=lambda entry: entry.end)
            document.add(last.end, [f"{' ' * last.indent}{name}: {scalar(node.value)}\n"])
        elif written[name].value != node.value:
            document.replace_scalar(written[name], scalar(node.value))
    document.cut(document.entries(top)[final])
    # It is none any more.
    document = Document(REVISIONS, document.text)
    entry = document.find("revisions", final)
    assert isinstance(entry, yaml.MappingNode)
    for key, _ in entry.value:
        if key.value == "draft":
            document.cut_key(entry, key)
    return document.text


def _answers(
    root: pathlib.Path, draft: str, final: str, schemas: tuple[Schema, Schema], texts: Texts
) -> tuple[int, list[str]]:
    number, marked = 0, []
    for area in open_areas(root).values():
        for concern, node in concerns(area):
            entry = area.entries(node).get(draft)
            if entry is None:
                continue
            number += 1
            answer = area.children(node)[draft]
            piece = entry.piece
            if MARK not in area.children(answer) and _says_otherwise(area, answer, *schemas):
                piece = piece.marked(f"as of {draft}, whose schema says something else here")
                marked.append(concern)
            area.cut(entry)
            area.add(entry.start, piece.lines(f'"{final}"', entry.indent))
        texts[area.path] = area.text
    return number, marked


def _says_otherwise(area: Document, answer: yaml.Node, before: Schema, now: Schema) -> bool:
    """Whether an answer cites a place that the two schemas have otherwise."""
    cite = area.children(answer).get("cite")
    items = cite.value if isinstance(cite, yaml.SequenceNode) else [cite]
    texts = [item.value for item in items if isinstance(item, yaml.ScalarNode)]
    pointers = [text.removeprefix("schema: #") for text in texts if text.startswith("schema: #")]
    return any(_at(before, pointer) != _at(now, pointer) for pointer in pointers)


def _at(schema: Mapping[str, Any], pointer: str) -> Any:
    try:
        return follow(schema, pointer)
    except LeadsNowhere:
        return None


def _corrections(root: pathlib.Path, draft: str, final: str, schema: Schema, texts: Texts) -> tuple[int, int]:
    problems = Problems()
    document = open_document(root, CORRECTIONS)
    read = load_corrections(root, load_revisions(root, problems), problems)
    problems.stop_if_any()
    mine = [
        (correction, entry)
        for correction, (version, entry) in zip(read, correction_entries(document), strict=True)
        if version == draft
    ]
    kept = 0
    for correction, entry in mine:
        document.cut(entry)
        if fits(correction, schema):
            document.add(entry.start, _lines(document, entry, draft, final))
            kept += 1
    if mine:
        texts[CORRECTIONS] = document.text
    return kept, len(mine) - kept


def _lines(document: Document, entry: Entry, draft: str, final: str) -> list[str]:
    lines = document.source[entry.start : entry.end]
    return [line.replace(f'revision: "{draft}"', f'revision: "{final}"') for line in lines]


def _vectors(root: pathlib.Path, draft: str, final: str, marked: bool, texts: Texts) -> None:
    """Vectors under the new name; where the schema says something else, each file of messages and values is to be looked at.

    Those of other revisions stay, and what is marked for the draft's sake is so for the new one's.
    """
    for file in sorted((root / VECTORS).rglob("*.yaml")):
        lines = file.read_bytes().decode("utf-8").splitlines(keepends=True)
        renamed = [text_renamed(line, draft, final) if mark_in(line) else line for line in lines]
        if renamed != lines:
            texts[file.relative_to(root).as_posix()] = "".join(renamed)
    for file in sorted((root / VECTORS / draft).rglob("*.yaml")):
        path = file.relative_to(root).as_posix()
        text = text_renamed(file.read_bytes().decode("utf-8"), draft, final)
        if marked and file.parent.name != "concerns" and f"\n{MARK}:" not in f"\n{text}":
            head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
            text = f"{head}{MARK}: as of {draft}, whose schema says something else\n{text.removeprefix(head)}"
        texts[path] = None
        texts[path.replace(f"{VECTORS}/{draft}/", f"{VECTORS}/{final}/")] = text

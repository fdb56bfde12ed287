"""Marks: what waits for a person to look at it, and taking a mark away.

Rule: a mark is one key of what it stands in. Taking it away changes no other byte, and is the only thing that is done here.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator

import yaml

from ..vectors.files import FOLDER as VECTORS
from ..vectors.files import mark_in, marks
from .inventory_files import concerns, correction_entries, open_areas, open_document
from .yaml_lines import Document

CORRECTIONS = "corrections"

_CORRECTIONS_FILE = "specs/corrections.yaml"


@dataclasses.dataclass(frozen=True)
class Marked:
    """What waits for a review.

    Attributes:
        name: how a person names it: the concern, `corrections`, or the path of a file of vectors.
        revision: whose answer, correction or vectors it is.
        area: of a concern; empty for all else.
        why: what the mark says.
        places: the lines of each file that the mark has, counted from 0; taking it away takes all of them.
    """

    name: str
    revision: str
    area: str
    why: str
    places: tuple[tuple[str, int], ...]


def marked(root: pathlib.Path) -> tuple[Marked, ...]:
    """Everything that waits, in the order of the files: corrections, concerns, vectors.

    Args:
        root: the folder that holds `specs/`.

    Raises:
        SpecificationError: a file is no YAML.
    """
    return (*_corrections(root), *_answers(root), *_vectors(root))


def taken_away(root: pathlib.Path, items: Iterable[Marked]) -> dict[str, str]:
    """The texts of the files without some marks, by path; nothing is written.

    Raises:
        SpecificationError: a mark shares a line with the beginning of what it marks, and cannot be cut out of it.
    """
    wanted: dict[str, set[int]] = {}
    for item in items:
        for path, line in item.places:
            wanted.setdefault(path, set()).add(line)
    texts = {}
    for path, lines in wanted.items():
        if path.startswith(VECTORS):
            source = (root / path).read_text("utf-8").splitlines(keepends=True)
            texts[path] = "".join(line for number, line in enumerate(source) if number not in lines)
        else:
            texts[path] = _without_marks(open_document(root, path), lines)
    return texts


def _without_marks(document: Document, lines: set[int]) -> str:
    for mapping, key in _mark_keys(document, document.top):
        if key.start_mark.line in lines:
            document.cut_key(mapping, key)
    return document.text


def _mark_keys(document: Document, node: yaml.Node | None) -> Iterator[tuple[yaml.MappingNode, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == "review" and isinstance(value, yaml.ScalarNode):
                yield node, key
            else:
                yield from _mark_keys(document, value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mark_keys(document, item)


def _corrections(root: pathlib.Path) -> Iterator[Marked]:
    document = open_document(root, _CORRECTIONS_FILE)
    node = document.find(CORRECTIONS)
    items = node.value if isinstance(node, yaml.SequenceNode) else []
    for item, (revision, _) in zip(items, correction_entries(document), strict=True):
        for _, key in _own_mark(item):
            yield Marked(CORRECTIONS, revision, "", _text(item), ((document.path, key.start_mark.line),))


def _answers(root: pathlib.Path) -> Iterator[Marked]:
    in_vectors: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for path, concern, line, why in _marked_entries(root):
        in_vectors.setdefault((path, concern), []).append((line, why))
    for name, area in open_areas(root).items():
        for concern, node in concerns(area):
            for revision, answer in area.children(node).items():
                path = f"{VECTORS}/{revision}/concerns/{name}.yaml"
                places = [(area.path, key.start_mark.line) for _, key in _own_mark(answer)]
                reasons = [_text(answer)] if places else []
                for line, why in in_vectors.get((path, concern), []):
                    places.append((path, line))
                    reasons.append(f"vectors {why}")
                if places:
                    yield Marked(concern, revision, name, "; ".join(dict.fromkeys(reasons)), tuple(places))


def _vectors(root: pathlib.Path) -> Iterator[Marked]:
    by_path: dict[str, list[tuple[int, str]]] = {}
    for place, why in marks(root):
        if "/concerns/" not in place.path:
            by_path.setdefault(place.path, []).append((place.line - 1, why))
    for path, found in by_path.items():
        revision = path.removeprefix(f"{VECTORS}/").partition("/")[0]
        yield Marked(path, revision, "", found[0][1], tuple((path, line) for line, _ in found))


def _marked_entries(root: pathlib.Path) -> Iterator[tuple[str, str, int, str]]:
    """The marks in the vectors of answers: the file, the concern, the line, and what it says."""
    folder = root / VECTORS
    for file in sorted(folder.glob("*/concerns/*.yaml")) if folder.is_dir() else ():
        concern = ""
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines()):
            if line[:1].isalpha():
                concern = line.partition(":")[0]
            elif match := mark_in(line):
                yield file.relative_to(root).as_posix(), concern, number, match[2]


def _own_mark(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [(value, key) for key, value in pairs if isinstance(key, yaml.ScalarNode) and key.value == "review"]


def _text(node: yaml.Node) -> str:
    return str(_own_mark(node)[0][0].value)

"""Reads off a checkout of the specification what of a revision can be linked to.

Rule: paths, anchors and line numbers come along, and no sentence does. Nothing is written here.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
from collections.abc import Container, Iterator

from ..schemas.pages import Pages
from ..schemas.revisions import Revision

_SUFFIXES = (".mdx", ".md")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TOKEN = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}\[\]]')
_BLOB = re.compile(r".*/blob/[^/]+/(?P<path>.+)")


class NoPages(Exception):
    """A folder is no checkout of the specification, or one of its pages cannot be read. The message says what was looked for, or which."""


def read_checkout(folder: pathlib.Path, revision: Revision) -> Pages:
    """What a checkout says of a revision.

    Args:
        folder: the checkout, or the folder of this revision's pages.
        revision: whose pages to read. Lines are told of where the checkout has the very schema that was imported.

    Raises:
        NoPages: there are no pages of the revision, or one cannot be read.
    """
    pages = _folder_of_pages(folder, revision.version)
    headings = {
        path.relative_to(pages).with_suffix("").as_posix(): tuple(anchors(_text(path)))
        for path in sorted(pages.rglob("*"))
        if path.suffix in _SUFFIXES and path.is_file()
    }
    told = set(headings.get(revision.reference_page or "", ()))
    return Pages(headings, _lines(folder, revision, told))


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoPages(f"{path} cannot be read: {error.__class__.__name__}") from error


def anchors(text: str) -> Iterator[str]:
    """The anchors of a page's headings, from top to bottom; one that is used already gets a number."""
    seen: dict[str, int] = {}
    for heading in _headings(text):
        name = anchor(heading)
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def anchor(heading: str) -> str:
    """The anchor that the specification's site gives a heading: spaces become hyphens, and of signs `&`, `+`, `-` and `_` stay."""
    plain = _LINK.sub(r"\1", heading).lower()
    return re.sub(r"[\s/]+", "-", re.sub(r"[^\w\s/&+-]", "", plain).strip())


def _headings(text: str) -> Iterator[str]:
    lines = iter(text.splitlines())
    fence = ""
    for number, line in enumerate(lines):
        if number == 0 and line == "---":  # what stands before the page proper
            for line in lines:
                if line == "---":
                    break
            continue
        if match := _FENCE.match(line):
            if not fence:
                fence = match["mark"]
            elif line.strip().startswith(fence):
                fence = ""
        elif not fence and (match := _HEADING.fullmatch(line)) and match["text"]:
            yield match["text"]


def _folder_of_pages(folder: pathlib.Path, version: str) -> pathlib.Path:
    tried = (folder / "docs" / "specification" / version, folder)
    for candidate in tried:
        if any(path.suffix in _SUFFIXES for path in (candidate.iterdir() if candidate.is_dir() else ())):
            return candidate
    raise NoPages(
        f"{folder} has no pages of {version}; allowed: a checkout with docs/specification/{version}, "
        f"or a folder with files in {' or '.join(_SUFFIXES)}"
    )


def _lines(folder: pathlib.Path, revision: Revision, told: Container[str]) -> dict[str, int]:
    """Where the definitions without a heading start, if the checkout has the published schema."""
    match = _BLOB.fullmatch(revision.source)
    path = folder / match["path"] if match else None
    if path is None or not path.is_file():
        return {}
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != revision.sha256:
        return {}
    return {name: line for name, line in _definitions(data.decode()) if name.lower() not in told}


def _definitions(text: str) -> Iterator[tuple[str, int]]:
    """The definitions of a schema as it was published, each with the line (from 1) that its name stands in."""
    within: list[str] = []
    key = ""
    for token in _TOKEN.finditer(text):
        if token["key"] is not None:
            key = json.loads(token["key"])
            if len(within) == 2 and within[1] in ("$defs", "definitions"):
                yield key, text.count("\n", 0, token.start()) + 1
        elif token[0] in "{[":
            within.append(key)
        elif token[0] in "}]":
            within.pop()

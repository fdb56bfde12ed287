"""Where the specification of a revision can be read: its pages with their headings, and the lines of its published schema.

Rule: facts only, as `revgen pages` wrote them, a line each; what stands below a heading is not kept.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Mapping

from ..reading.located import Place, Problems

FOLDER = "specs/pages"

SCHEMA = "schema.json"
"""What stands for the published schema in such a file, where a page has its path."""

_HEADING = re.compile(r"(?P<page>[^\s#]+)(#(?P<anchor>\S+))?")
_LINE = re.compile(rf"{re.escape(SCHEMA)}#L(?P<line>[1-9]\d*) (?P<definition>\S+)")
_FORMS = f"'<path>#<heading>', '<path>' for a page without headings, '{SCHEMA}#L<line> <definition>'"


@dataclasses.dataclass(frozen=True)
class Pages:
    """What can be linked to.

    Attributes:
        headings: the anchors of each page, from top to bottom, by its path without the revision.
        lines: the line (from 1) at which a definition starts in the published schema, for those that no page has a heading for.
    """

    headings: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def has(self, page: str, anchor: str) -> bool:
        """Whether there is this page with this heading."""
        return anchor in self.headings.get(page, ())

    def text(self, version: str) -> str:
        """The file that says this."""
        lines = [
            f"# What of {version} can be linked to: its pages and their headings, and the lines of definitions without one.\n",
            f"# Written by: revgen pages {version} FOLDER\n",
        ]
        for page, anchors in sorted(self.headings.items()):
            lines += [f"{page}#{anchor}\n" for anchor in anchors] or [f"{page}\n"]
        lines += [f"{SCHEMA}#L{line} {definition}\n" for definition, line in sorted(self.lines.items())]
        return "".join(lines)


def pages_path(version: str) -> str:
    """The file of a revision's pages, relative to the root."""
    return f"{FOLDER}/{version}.txt"


def load_pages(root: pathlib.Path, version: str, problems: Problems) -> Pages | None:
    """Read the pages of a revision; None where nobody has written them down.

    Args:
        root: the folder that holds `specs/`.
        version: the revision.
        problems: receives lines of another form than those that are written.
    """
    path = pages_path(version)
    try:
        text = (root / path).read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
        return None
    return read_pages(text.splitlines(), path, problems)


def read_pages(lines: Iterable[str], path: str, problems: Problems) -> Pages:
    """The pages that lines tell of; `path` is what complaints name, and empty lines and comments say nothing."""
    headings: dict[str, list[str]] = {}
    definitions: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := _LINE.fullmatch(line):
            definitions[match["definition"]] = int(match["line"])
        elif match := _HEADING.fullmatch(line):
            anchors = headings.setdefault(match["page"], [])
            if match["anchor"] is not None:
                anchors.append(match["anchor"])
        else:
            problems.add(Place(path, number, 1), f"'{line}' tells of no page; allowed: {_FORMS}")
    return Pages({page: tuple(anchors) for page, anchors in headings.items()}, definitions)

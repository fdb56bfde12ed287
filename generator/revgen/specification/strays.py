"""Files among the inputs that nobody reads.

Rule: what stands in a folder of the inputs is read, or said not to be: a file that was meant to be read and has the wrong name is a fault, a
copy that an editor left is a remark.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Sequence

from ..inventory.concerns import FOLDER as VARIANCE
from ..reading.located import Place, Problems
from ..templates.macros import CONCERNS
from ..templates.macros import SUFFIXES as TEMPLATE_SUFFIXES
from ..templates.model_templates import MODELS
from ..templates.model_templates import TEMPLATES as MODEL_TEMPLATES
from ..templates.skeletons import SKELETONS

_SCHEMAS = "specs/schemas"
_TEMPLATES = "templates"
_FILES = (
    "README.md",
    "canonical.yaml",
    "corrections.yaml",
    "keywords.yaml",
    "revisions.yaml",
    "selection.yaml",
    "words.yaml",
)
_FOLDERS = ("pages", "schemas", "variance")
_COPIES = ("~", ".bak", ".orig", ".rej", ".swo", ".swp", ".tmp")


def complain_about_strays(root: pathlib.Path, versions: Sequence[str], problems: Problems) -> None:
    """Say which files are not read.

    Args:
        root: the folder that holds `specs/` and `templates/`.
        versions: the revisions, whose schemas are read.
        problems: receives faults for files that look as if they were meant to be read, and remarks for copies.
    """
    for path, allowed in _strays(root, versions):
        place = Place(path.relative_to(root).as_posix(), 1, 1)
        if path.name.startswith((".", "#")) or path.name.endswith(_COPIES):
            problems.remark(place, "is a copy that an editor or an interrupted command left, and is not read")
        else:
            problems.add(place, f"is not read; allowed here: {allowed}")


def _strays(root: pathlib.Path, versions: Sequence[str]) -> Iterator[tuple[pathlib.Path, str]]:
    """Every file that is not read, with what would be."""
    schemas = {f"{version}.json" for version in versions}
    for path in _within(root / "specs"):
        if path.name not in _FILES:
            meant = f"{path.stem}.yaml"
            yield path, meant if meant in _FILES else f"{', '.join(_FILES)}"
    for path in sorted((root / "specs").rglob("*")):
        *folders, _ = path.relative_to(root / "specs").parts
        if folders and path.is_file() and (len(folders) > 1 or folders[0] not in _FOLDERS):
            yield path, f"files of the folders {', '.join(_FOLDERS)} themselves"
    for path in _within(root / VARIANCE):
        if path.suffix != ".yaml" or path.name.startswith((".", "#")):
            yield path, f"an area a file, {path.stem}.yaml"
    for path in _within(root / _SCHEMAS):
        if path.name not in schemas:
            yield path, f"the schema of a revision, {', '.join(sorted(schemas))}"
    for path in sorted((root / _TEMPLATES).rglob("*")):
        name = path.relative_to(root / _TEMPLATES).as_posix()
        if path.is_dir():
            continue
        if path.suffix not in TEMPLATE_SUFFIXES:
            yield path, f"templates, which end in {' or '.join(TEMPLATE_SUFFIXES)}"
        elif name.startswith(f"{MODELS}/"):
            if name not in MODEL_TEMPLATES:
                yield path, f"templates of models, {', '.join(MODEL_TEMPLATES)}"
        elif not name.startswith(f"{CONCERNS}/") and name not in SKELETONS:
            yield path, f"skeletons, {', '.join(SKELETONS)}"


def _within(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files of a folder, and links that lead nowhere, by name."""
    return sorted(path for path in folder.iterdir() if not path.is_dir()) if folder.is_dir() else []

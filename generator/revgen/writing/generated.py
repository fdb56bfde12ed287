"""The two consumers of what was rendered: one writes it, the other compares it with what is there.

Rule: `generated/` belongs to the generator. A file in it is what was rendered or is removed; nothing outside of it is ever touched, and
a file that is already right is not either.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import difflib
import pathlib
import shutil

from ..reading.located import Place, Problem, SpecificationError
from ..rendering.output import FOLDER
from .files import apply
from .manifest import PATH as MANIFEST
from .manifest import generated_files


@dataclasses.dataclass(frozen=True)
class Changes:
    """What happened to each file, as paths relative to the root, in order."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


def write(root: pathlib.Path, files: collections.abc.Mapping[str, str]) -> Changes:
    """Make `generated/` equal to what was rendered.

    Args:
        root: the folder that holds `generated/`.
        files: text by path; every path is below `generated/`.

    Raises:
        SpecificationError: a path leads elsewhere; nothing was written.
        OSError: a file cannot be written, and all are as they were.
    """
    changes = _compare(root, files)
    # MANIFEST comes last: a run that was interrupted must not look finished.
    touched = sorted((*changes.created, *changes.changed, *changes.removed), key=lambda path: (path == MANIFEST, path))
    apply(root, {path: files.get(path) for path in touched})
    for folder in sorted({(root / path).parent for path in changes.removed}):
        _remove_empty_folders(folder, root / FOLDER)
    return changes


def unchanged(root: pathlib.Path) -> Changes:
    """What `write` gives where everything is already right."""
    return Changes(unchanged=tuple(sorted(generated_files(root))))


def drift(root: pathlib.Path, files: collections.abc.Mapping[str, str]) -> dict[str, str]:
    """A unified diff from what is under `generated/` to what was rendered, for each file that differs."""
    changes = _compare(root, files)
    return {
        path: _difference(path, _current_text(root, path), files.get(path))
        for path in sorted((*changes.created, *changes.changed, *changes.removed))
    }


def _compare(root: pathlib.Path, files: collections.abc.Mapping[str, str]) -> Changes:
    for path in files:
        _require_inside(root, path)
    present = generated_files(root)
    same = {path for path in files if path in present and _is_same(root / path, files[path])}
    return Changes(
        created=tuple(sorted(files.keys() - present)),
        changed=tuple(sorted((files.keys() & present) - same)),
        removed=tuple(sorted(present - files.keys())),
        unchanged=tuple(sorted(same)),
    )


def _require_inside(root: pathlib.Path, path: str) -> None:
    folder = (root / FOLDER).resolve()
    parent = (root / path).parent.resolve()
    if not path.startswith(f"{FOLDER}/") or not parent.is_relative_to(folder) or folder.parent != root.resolve():
        leads = f"; {FOLDER}/ is a link to {folder}" if (root / FOLDER).is_symlink() else ""
        message = f"'{path}' is not below {FOLDER}/{leads}; allowed: a folder of the root itself"
        raise SpecificationError([Problem(Place(FOLDER, 1, 1), message)])


def _is_same(path: pathlib.Path, text: str) -> bool:
    return not path.is_symlink() and path.read_bytes() == text.encode()


def _remove_empty_folders(folder: pathlib.Path, top: pathlib.Path) -> None:
    """Remove a folder that holds nothing but bytecode, and the ones above it, up to `generated/` itself."""
    while folder != top and folder.is_dir() and all(child.name == "__pycache__" for child in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent


def _current_text(root: pathlib.Path, path: str) -> str | None:
    try:
        return (root / path).read_bytes().decode("utf-8", "backslashreplace")
    except OSError:
        return None


def _difference(path: str, old: str | None, new: str | None) -> str:
    before, after = (f"a/{path}" if old is not None else "/dev/null"), (f"b/{path}" if new is not None else "/dev/null")
    lines = difflib.unified_diff(_lines(old), _lines(new), before, after)
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    # An empty file, or a link with the right text behind it, has no lines that differ.
    return text or f"--- {before}\n+++ {after}\n"


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)

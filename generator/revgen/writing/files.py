"""Writes inputs: files that a command changes.

Rule: all or nothing. All texts are made before the first file is touched, each is written beside the file that it is to replace, and only then
do they take their places; whatever fails puts back what was there.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Mapping


def apply(root: pathlib.Path, texts: Mapping[str, str | None]) -> None:
    """Write files.

    Args:
        root: the folder that the paths are relative to; an absolute path stays what it is.
        texts: what each file is to hold, by its path; None removes it.

    Raises:
        OSError: one cannot be written, and all are as they were.
    """
    staged: dict[pathlib.Path, pathlib.Path] = {}
    before: dict[pathlib.Path, bytes | None] = {}
    folders: list[pathlib.Path] = []
    try:
        for path, text in texts.items():
            target = root / path
            before[target] = target.read_bytes() if target.is_file() else None
            if text is not None:
                folders += _make_folders(target.parent)
                staged[target] = write_beside(target, text)
        replaced: list[pathlib.Path] = []
        try:
            for target in before:
                replaced.append(target)
                if target in staged:
                    os.replace(staged[target], target)
                else:
                    target.unlink()
        except BaseException:
            for target in replaced:
                _put_back(target, before[target])
            raise
    except BaseException:
        for unfinished in staged.values():
            unfinished.unlink(missing_ok=True)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def write_beside(path: pathlib.Path, text: str) -> pathlib.Path:
    """Write a text into a new file next to a path, as readable as any new file, so that it can take its place in one step.

    Returns:
        The file.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode())
        # A temporary file is private; a source file is as readable as any new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise
    return pathlib.Path(name)


def _make_folders(folder: pathlib.Path) -> list[pathlib.Path]:
    """Make a folder and those above it that are not there; gives the ones that were made, the outer ones first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir()
    return missing[::-1]


def _put_back(path: pathlib.Path, content: bytes | None) -> None:
    with contextlib.suppress(OSError):
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)

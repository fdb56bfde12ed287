"""Writes inputs: files of `specs/` that a command changes.

Rule: all texts are made before the first file is touched, and a file is replaced as a whole.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping


def apply(root: pathlib.Path, texts: Mapping[str, str | None]) -> None:
    """Write files.

    Args:
        root: the folder that the paths are relative to.
        texts: what each file is to hold, by its path; None removes it.
    """
    for path, text in texts.items():
        if text is None:
            (root / path).unlink()
        else:
            write(root / path, text)


def write(path: pathlib.Path, text: str) -> None:
    """Write one file, through a neighbour, so that nobody reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_bytes(text.encode())
    os.replace(unfinished, path)

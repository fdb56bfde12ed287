"""Running a command of the project in this process: one of its own takes most of its time to start.

Rule: only what ends by itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import sys
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

TERMINAL = {"COLUMNS": "80", "NO_COLOR": "1"}


class Ran(NamedTuple):
    """How a command ended."""

    code: object
    stdout: str
    stderr: str


def run_here(main: Callable[[], None], name: str, *arguments: str, folder: pathlib.Path) -> Ran:
    """Run a command.

    Args:
        main: what the command runs.
        name: what it is called.
        arguments: what follows that.
        folder: where it is run.
    """
    printed, told = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: object = 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(told),
        mock.patch.dict(os.environ, TERMINAL),
        mock.patch.object(sys, "argv", [name, *arguments]),
        mock.patch.object(sys, "path", [*sys.path]),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return Ran(code, _text(printed), _text(told))


def _text(written: io.TextIOWrapper) -> str:
    held = written.buffer
    assert isinstance(held, io.BytesIO)
    return held.getvalue().decode()

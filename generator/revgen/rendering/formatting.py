"""Formats generated Python, in process.

Rule: templates care for meaning, this for layout. Text that is no Python is the fault of a template, and is shown.
"""

from __future__ import annotations

import re

import black
from black.mode import TargetVersion
from black.parsing import InvalidInput

from ..reading.located import Place, Problem, SpecificationError
from ..templates.macros import LINE_LENGTH
from .output import Output, python_header

_MODE = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY311})
_POSITION = re.compile(r":\s*(\d+):(\d+)")


def python_output(path: str, body: str, inputs: tuple[str, ...]) -> Output:
    """A Python file: the header, then the body, formatted.

    Args:
        path: the file, relative to the root.
        body: Python, in any layout.
        inputs: the paths of the inputs that it depends on.

    Raises:
        SpecificationError: the body is not Python.
    """
    return Output(path, format_python(path, f"{python_header(inputs)}\n\n{body}"), inputs)


def laid_out(text: str) -> str:
    """Python as black lays it out.

    Raises:
        black.parsing.InvalidInput: the text cannot be parsed.
    """
    return black.format_str(text, mode=_MODE)


def format_python(path: str, text: str) -> str:
    """The text as black lays it out.

    Args:
        path: the file it is to become, for the complaint.
        text: Python.

    Raises:
        SpecificationError: the text cannot be parsed; the problem's place is in the generated file, and its message has the line.
    """
    try:
        return laid_out(text)
    except InvalidInput as error:
        match = _POSITION.search(str(error))
        line, column = (int(match[1]), int(match[2])) if match else (1, 0)
        lines = text.splitlines()
        shown = lines[line - 1].strip() if line <= len(lines) else ""
        place = Place(path, line, column + 1)
        raise SpecificationError([Problem(place, f"what the templates give is not Python: {shown}")]) from error

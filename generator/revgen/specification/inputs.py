"""The files that rendering depends on, as digests: inputs, the generator's own modules and templates, and the versions of its tools.

Rule: what changes no byte of the output is left out, so an input counts by what it says and not by its comments.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import pathlib
import re

from .comments import meaning

_DISTRIBUTION = "mcp-anyrev"
_INPUT_FOLDERS = ("specs", "templates")
_INPUT_SUFFIXES = (".yaml", ".json", ".txt", ".jinja", ".jinja2")
# The bytes of the output depend on these versions.
_TOOLS = ("black", "datamodel-code-generator", "jinja2")
_GENERATOR_SUFFIXES = (".py", ".jinja")
# What only shows things, and renders none; and the inputs that a wheel carries, which are a root of their own.
_OUTSIDE_OF_RENDERING = ("__main__.py", "main.py", "commands", "inputs")


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Digests of the input files and of the generator's own modules and templates, by path, and the versions of the tools."""

    files: dict[str, str]
    generator: dict[str, str]
    tools: dict[str, str]


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def wrong_tools() -> tuple[str, ...]:
    """The tools whose version is another one than this generator asks for, a line each with what is needed."""
    wrong = []
    for needed in importlib.metadata.requires(_DISTRIBUTION) or ():
        pin = re.match(r"([\w.-]+)==([\w.]+)", needed)
        if pin and pin[1] in _TOOLS and (installed := importlib.metadata.version(pin[1])) != pin[2]:
            wrong.append(
                f"{pin[1]} is {installed}, and every byte of the output depends on {pin[2]}; "
                f'run: pip install "{_DISTRIBUTION}[generator]"'
            )
    return tuple(wrong)


def read_inputs(root: pathlib.Path) -> Inputs:
    """Digest everything that rendering depends on.

    Args:
        root: the folder that holds `specs/` and `templates/`.
    """
    files = sorted(
        path
        for folder in _INPUT_FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in _INPUT_SUFFIXES and path.is_file()
    )
    package = pathlib.Path(__file__).parents[1]
    modules = sorted(
        path
        for path in package.rglob("*")
        if path.suffix in _GENERATOR_SUFFIXES and path.relative_to(package).parts[0] not in _OUTSIDE_OF_RENDERING
    )
    return Inputs(
        files={path.relative_to(root).as_posix(): _digest(path) for path in files},
        # Named as in the repository, wherever the package is installed.
        generator={
            f"generator/{package.name}/{path.relative_to(package).as_posix()}": _digest(path) for path in modules
        },
        tools={name: importlib.metadata.version(name) for name in _TOOLS},
    )


def _digest(path: pathlib.Path) -> str:
    return _digest_of_meaning(path.suffix, path.read_bytes())


# Most files are as they were when somebody last looked: the generator's own always are.
@functools.lru_cache(maxsize=1_000)
def _digest_of_meaning(suffix: str, data: bytes) -> str:
    return digest(meaning(suffix, data))

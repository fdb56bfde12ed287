"""Skills as files: a folder with a `SKILL.md`, and what stands beside and below it.

Rule: nothing outside of a folder is ever read through it: links are not followed, whoever put them there and whenever. What is read is
bounded. A skill that is none is left out, with a line in the log, and does not spoil the others.
Specification: https://agentskills.io/specification
"""

from __future__ import annotations

import hashlib
import logging
import mimetypes
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mcp_contract import JsonObject
from pydantic_core import to_jsonable_python

log = logging.getLogger("mcp_anyrev.server")

SKILL_FILE = "SKILL.md"
MOST_FILE_BYTES = 4 * 1024 * 1024
MOST_FILES = 1_000
_MOST_DEPTH = 16
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME = 64
_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?\r?\n)---[ \t]*(\r?\n|\Z)", re.DOTALL)
_TYPES = {".md": "text/markdown"}
_BINARY = "application/octet-stream"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINKS


class SkillFault(ValueError):
    """A skill that is none; the text says why."""


class SkillFile(NamedTuple):
    """One file of a skill.

    Attributes:
        path: its path below the skill, with slashes.
        digest: `sha256:` and the digest of its bytes, in hexadecimal digits.
        size: how many bytes it has.
        mime_type: what it is.
    """

    path: str
    digest: str
    size: int
    mime_type: str


def described_file(path: str, content: bytes) -> SkillFile:
    """What is told of a file of a skill."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    kind = _TYPES.get(os.path.splitext(path)[1].lower()) or mimetypes.guess_type(path)[0] or _BINARY
    return SkillFile(path, digest, len(content), kind)


def read_frontmatter(content: bytes) -> JsonObject:
    """The front matter of a `SKILL.md`, whatever is in it, as JSON.

    Args:
        content: the file.

    Raises:
        SkillFault: there is none.
        ImportError: PyYAML is not installed.
    """
    front = _FRONT.match(content)
    if front is None:
        raise SkillFault(f"{SKILL_FILE} does not begin with front matter between two lines of ---")
    found = read_yaml(front[1])
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise SkillFault("the front matter is no mapping")
    plain: JsonObject = to_jsonable_python(found)
    return plain


def frontmatter_of(content: bytes, name: str) -> JsonObject:
    """The front matter of a `SKILL.md`, as JSON.

    Args:
        content: the file.
        name: the name of its folder.

    Raises:
        SkillFault: there is none, or it is not that of a skill of this name.
        ImportError: PyYAML is not installed.
    """
    found = read_frontmatter(content)
    given, description = found.get("name"), found.get("description")
    if not isinstance(given, str) or _NAME.fullmatch(given) is None or len(given) > _LONGEST_NAME:
        raise SkillFault(
            f"the name in the front matter is {given!r}; a name has 1 to {_LONGEST_NAME} lower-case letters, digits and hyphens between them"
        )
    if given != name:
        raise SkillFault(f"the name in the front matter is {given!r}, and that of the folder {name!r}")
    if not isinstance(description, str) or not description.strip():
        raise SkillFault("the front matter has no description")
    return found


def read_yaml(text: bytes) -> Any:
    """YAML as JSON has it: only true, false, null and numbers are no text.

    Raises:
        SkillFault: it is none.
        ImportError: PyYAML is not installed; the text says what to install.
    """
    try:
        import yaml
    except ImportError:
        raise ImportError("skills need PyYAML: pip install 'mcp-anyrev[skills]'") from None

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # as the library has it

    for tag, pattern, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"~|null|Null|NULL|", "~nN\0"),
        ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ):
        expression = re.compile(rf"(?:{pattern})\Z")
        Loader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}", expression, list(first.replace("\0", "")) + [""] * ("\0" in first)
        )
    Loader.add_constructor("tag:yaml.org,2002:int", _integer)
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SkillFault(f"the front matter is no YAML: {str(error).splitlines()[0]}") from None


def _integer(loader: Any, node: Any) -> int:
    text: str = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def files_below(root: Path) -> Iterator[tuple[str, ...]]:
    """The regular files of a folder, at any depth, as the parts of their paths, in order. Links, and what a dot begins, are none.

    Raises:
        SkillFault: there are too many, or they are too deep.
    """
    count = 0
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        parts = waiting.pop()
        try:
            entries = sorted(os.scandir(root.joinpath(*parts)), key=lambda entry: entry.name)
        except OSError as error:
            log.warning("a folder of skills cannot be read: %s", error)
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append((*parts, entry.name))
            elif entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    raise SkillFault(f"{root} holds more than {MOST_FILES} files")
                yield (*parts, entry.name)
        if folders and len(parts) >= _MOST_DEPTH:
            raise SkillFault(f"{root} is more than {_MOST_DEPTH} folders deep")
        waiting += reversed(folders)


def content_of(root: Path, parts: tuple[str, ...]) -> bytes:
    """What a file below a folder holds. No link on the way is followed.

    Raises:
        SkillFault: there is no such file, or it is too large.
    """
    try:
        descriptor = _opened(root, parts)
    except OSError:
        raise SkillFault(f"there is no file {'/'.join(parts)}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SkillFault(f"{'/'.join(parts)} is no file")
        content = file.read(MOST_FILE_BYTES + 1)
    if len(content) > MOST_FILE_BYTES:
        raise SkillFault(f"{'/'.join(parts)} has more than {MOST_FILE_BYTES} bytes")
    return content


def _opened(root: Path, parts: tuple[str, ...]) -> int:
    if not parts or any(part in ("", ".", "..") or os.sep in part or (os.altsep or "/") in part for part in parts):
        raise OSError("no path of a file")
    flags = os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0)
    if not _BY_FOLDER:
        real = root.resolve(strict=True)
        found = root.joinpath(*parts).resolve(strict=True)
        if found != real.joinpath(*parts):
            raise OSError("a link is on the way")
        return os.open(found, flags)
    folder = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)

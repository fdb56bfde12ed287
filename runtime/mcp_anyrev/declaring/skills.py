"""Skills: folders of instructions, and what they refer to, offered as an extension.

Rule: a skill is listed with every one of its files, their digests and sizes, as they are now; what a client reads is what is told of it.
Changes on disk are noticed, and told.
Specification: https://github.com/modelcontextprotocol/experimental-ext-skills
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mcp_contract import InvalidParams, JsonObject, ResourceNotFound

from mcp_anyrev.declaring.extensions import Extension
from mcp_anyrev.declaring.media import File
from mcp_anyrev.declaring.skill_files import (
    SKILL_FILE,
    SkillFault,
    SkillFile,
    content_of,
    described_file,
    files_below,
    frontmatter_of,
)
from mcp_anyrev.declaring.uri_templates import normalized
from mcp_anyrev.errors import RegistrationError

log = logging.getLogger("mcp_anyrev.server")

SKILLS = "io.modelcontextprotocol/skills"
_SCHEME = "skill://"
_DIRECTORY = "inode/directory"
_PAGE = 100
_NOT_KEPT: JsonObject = {"ttlMs": 0, "cacheScope": "private"}

Content = bytes | str | Callable[[], bytes | str]
"""What a file of a skill from code holds; a function gives it anew each time it is read, and so has no digest."""


@dataclass(frozen=True)
class Skill:
    """One skill.

    Attributes:
        path: its path among the skills, of which the last part is its name.
        frontmatter: the front matter of its `SKILL.md`, as JSON.
        files: its files by their paths below it.
        reads: from the path of a file to what that holds now.
        fixed: do its files stay as they are, so that they have digests?
    """

    path: str
    frontmatter: JsonObject
    files: Mapping[str, SkillFile]
    reads: Callable[[str], bytes]
    fixed: bool

    @property
    def uri(self) -> str:
        """The address of its `SKILL.md`."""
        return address(self.path, SKILL_FILE)

    def entry(self) -> JsonObject:
        """What is listed of it."""
        told: JsonObject = {"uri": self.uri, "frontmatter": self.frontmatter}
        if self.fixed:
            told["resources"] = [
                {"uri": address(self.path, one.path), "digest": one.digest, "size": one.size}
                for one in self.files.values()
            ]
        return told


def address(*parts: str) -> str:
    """The address of a file of a skill."""
    return normalized(_SCHEME + "/".join(parts))


class Skills(Extension):
    """Skills of a server; `registry.extension(Skills("skills/"))` offers them.

    Args:
        directories: folders with skills in them, at any depth: each folder that holds a `SKILL.md` is one.
        watch_seconds: how often the folders are looked at for changes while a server runs; None for never.

    Raises:
        RegistrationError: there is no such folder, or two skills of one path.
        ImportError: PyYAML is not installed (extra `skills`).
    """

    def __init__(self, *directories: str | Path, watch_seconds: float | None = 1.0) -> None:
        super().__init__(SKILLS, {"directoryRead": True}, declared_by_clients=False)
        self._directories = tuple(Path(one) for one in directories)
        self._lock = threading.RLock()
        self._on_disk: dict[str, Skill] = {}
        self._from_code: dict[str, Skill] = {}
        self._served: dict[str, tuple[str, SkillFile]] = {}
        for one in self._directories:
            if not one.is_dir():
                raise RegistrationError(f"skills: there is no folder {one}")
        self.method("skills/list", description="Lists the skills, with their files.")(self._list)
        self.method("skills/get", description="Tells of one skill, by the address of its SKILL.md.")(self._get)
        self.method("resources/directory/read", description="Lists what a folder of a skill holds.")(
            self._read_directory
        )
        self.resource(f"{_SCHEME}{{+path}}", name="file of a skill")(self._read)  # so that folders have addresses, too
        self.refresh()
        if watch_seconds is not None and self._directories:
            self.beside = (partial(self._watch, watch_seconds),)

    def add(self, path: str, files: Mapping[str, Content]) -> None:
        """Offer a skill from code, or another in its place.

        Args:
            path: its path among the skills; the last part is its name.
            files: what its files hold, by their paths below it; among them `SKILL.md`.

        Raises:
            RegistrationError: it is no skill; the text says why.
        """

        def reads(name: str) -> bytes:
            given = files[name]
            content = given() if callable(given) else given
            return content.encode() if isinstance(content, str) else content

        try:
            for name in (path, *files):
                if not all(part not in ("", ".", "..") and "\0" not in part for part in name.split("/")):
                    raise SkillFault(f"{name!r} is no path; one has parts between slashes, none of them empty, . or ..")
            if SKILL_FILE not in files:
                raise SkillFault(f"it has no {SKILL_FILE}")
            frontmatter = frontmatter_of(reads(SKILL_FILE), path.rpartition("/")[2])
            fixed = not any(callable(one) for one in files.values())
            told = {name: described_file(name, b"" if callable(one) else reads(name)) for name, one in files.items()}
        except SkillFault as error:
            raise RegistrationError(f"skill {path!r}: {error}") from None
        with self._lock:
            self._from_code[path] = Skill(path, frontmatter, told, reads, fixed)
            self._offer()

    def remove(self, path: str) -> None:
        """Take a skill from code out.

        Raises:
            KeyError: there is none of this path.
        """
        with self._lock:
            del self._from_code[path]
            self._offer()

    def refresh(self) -> None:
        """Look at the folders again, and tell what has changed; from any thread."""
        found: dict[str, Skill] = {}
        for root in self._directories:
            for skill in _skills_in(root):
                if skill.path in found:
                    log.error("the skill %s is in two folders; the one in %s is left out", skill.path, root)
                    continue
                found[skill.path] = skill
        with self._lock:
            self._on_disk = found
            self._offer()

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The skills that there are, by their paths."""
        return {**self._on_disk, **self._from_code}

    def _offer(self) -> None:
        """Have exactly the files of the skills offered as resources."""
        wanted: dict[str, tuple[str, SkillFile]] = {}
        for skill in self.skills.values():
            for one in skill.files.values():
                wanted.setdefault(address(skill.path, one.path), (skill.path, one))
        for uri in self._served.keys() - wanted.keys():
            self.remove_resource(uri)
        for uri, (path, one) in wanted.items():
            before = self._served.get(uri)
            if before is None or before[1].mime_type != one.mime_type:
                if before is not None:
                    self.remove_resource(uri)
                self._declare(uri, path, one)
                self.updated(uri)  # who subscribed to it while it was there before hears of it again
            elif before[1].digest != one.digest:
                self.updated(uri)
        self._served = wanted

    def _declare(self, uri: str, path: str, one: SkillFile) -> None:
        frontmatter = self.skills[path].frontmatter
        options: dict[str, Any] = {"name": one.path.rpartition("/")[2], "mime_type": one.mime_type}
        if one.path == SKILL_FILE:
            options = {**options, "name": frontmatter["name"], "description": frontmatter["description"]}

        def read() -> str | File:
            return self._content(uri)

        self.resource(uri, **options)(read)

    def _read(self, path: str) -> str | File:
        return self._content(address(path))

    def _content(self, uri: str) -> str | File:
        """What a file holds now."""
        try:
            path, one = self._served[uri]
            content = self.skills[path].reads(one.path)
        except (KeyError, SkillFault):
            raise ResourceNotFound(uri) from None
        try:
            return content.decode()
        except UnicodeDecodeError:
            return File(content, one.mime_type)

    def _list(self, cursor: str = "") -> dict[str, Any]:
        paths = sorted(self.skills)
        after = [path for path in paths if path > cursor]
        if cursor and cursor not in paths:
            raise InvalidParams("there is no such cursor; begin again without one")
        told: dict[str, Any] = {
            "skills": [self.skills[path].entry() for path in after[:_PAGE]],
            "ttlMs": 0,
            "cacheScope": "private",
        }
        return {**told, "nextCursor": after[_PAGE - 1]} if len(after) > _PAGE else told

    def _get(self, uri: str) -> dict[str, Any]:
        for skill in self.skills.values():
            if skill.uri == normalized(uri):
                return {"skill": skill.entry(), **_NOT_KEPT}
        raise InvalidParams("there is no skill at this address")

    def _read_directory(self, uri: str, cursor: str = "") -> dict[str, Any]:
        beginning = f"{normalized(uri)}/"
        children: dict[str, JsonObject] = {}
        for file, (_, one) in self._served.items():
            if file.startswith(beginning) and beginning != f"{_SCHEME}/":
                name, deeper, _ = file.removeprefix(beginning).partition("/")
                told = {"uri": beginning + name, "name": name, "mimeType": _DIRECTORY if deeper else one.mime_type}
                children.setdefault(name, told)
        if not children:
            raise InvalidParams("there is no folder at this address")
        if cursor and cursor not in children:
            raise InvalidParams("there is no such cursor; begin again without one")
        after = [name for name in sorted(children) if name > cursor]
        page = {"resources": [children[name] for name in after[:_PAGE]]}
        return {**page, "nextCursor": after[_PAGE - 1]} if len(after) > _PAGE else page

    @asynccontextmanager
    async def _watch(self, seconds: float) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._look(seconds))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _look(self, seconds: float) -> None:
        seen = await asyncio.to_thread(self._marks)
        while True:
            await asyncio.sleep(seconds)
            try:
                marks = await asyncio.to_thread(self._marks)
                if marks != seen:
                    await asyncio.to_thread(self.refresh)
                    seen = marks
            except Exception:
                log.exception("the folders of skills cannot be looked at")

    def _marks(self) -> list[Any]:
        """What is another once anything in the folders has changed, without reading it."""
        marks: list[Any] = []
        for root in self._directories:
            try:
                for parts in files_below(root):
                    known = root.joinpath(*parts).lstat()
                    marks.append((str(root), parts, known.st_mtime_ns, known.st_size, known.st_ino))
            except (OSError, SkillFault) as reason:
                marks.append(str(reason))
        return marks


def _skills_in(root: Path) -> list[Skill]:
    """The skills in a folder; what is none is left out, with a line in the log."""
    try:
        files = list(files_below(root))
    except SkillFault as fault:
        log.error("skills are left out: %s", fault)
        return []
    found = []
    for folder in sorted({parts[:-1] for parts in files if parts[-1] == SKILL_FILE and len(parts) > 1}):
        path = "/".join(folder)
        try:
            own = {
                "/".join(parts[len(folder) :]): content_of(root, parts)
                for parts in files
                if parts[: len(folder)] == folder
            }
            frontmatter = frontmatter_of(own[SKILL_FILE], folder[-1])
        except SkillFault as fault:
            log.error("the skill %s in %s is left out: %s", path, root, fault)
            continue
        told = {name: described_file(name, content) for name, content in own.items()}
        found.append(Skill(path, frontmatter, told, partial(_read_below, root, folder), fixed=True))
    return found


def _read_below(root: Path, folder: tuple[str, ...], name: str) -> bytes:
    return content_of(root, (*folder, *name.split("/")))

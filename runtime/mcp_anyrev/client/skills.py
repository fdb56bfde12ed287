"""Skills of a server, as a client finds and reads them.

Rule: nothing is fetched before somebody asks for it, and nothing is given on that is not what was listed: digest, size, and the front
matter of the skill. Of a skill that was once something else nothing more is read, until it has been looked up anew.
Specification: https://github.com/modelcontextprotocol/experimental-ext-skills
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject, member

from mcp_anyrev.client.errors import WrongAnswer
from mcp_anyrev.client.extension import ClientExtension
from mcp_anyrev.declaring.skill_files import SkillFault, read_frontmatter

if TYPE_CHECKING:
    from mcp_anyrev.client.session import ClientSession

SKILLS = "io.modelcontextprotocol/skills"
_READ = "resources/read"
_MOST_PAGES = 1_000


class Tampered(WrongAnswer):
    """A file of a skill is not what the server listed."""


@dataclass(frozen=True)
class ListedFile:
    """A file of a skill, as it was listed.

    Attributes:
        uri: its address.
        digest: `sha256:` and the digest of its bytes.
        size: how many bytes it has, if that was said.
    """

    uri: str
    digest: str
    size: int | None


@dataclass(frozen=True)
class ListedSkill:
    """A skill, as it was listed.

    Attributes:
        uri: the address of its `SKILL.md`.
        frontmatter: its front matter; at least `name` and `description`.
        files: all its files; None for one that is made anew each time it is read, so that nothing can be held against it.
    """

    uri: str
    frontmatter: JsonObject
    files: tuple[ListedFile, ...] | None

    @property
    def name(self) -> str:
        """Its name, which need not be the only one of its kind."""
        return str(self.frontmatter["name"])

    @property
    def description(self) -> str:
        """What it is for."""
        return str(self.frontmatter["description"])


class ClientSkills:
    """The skills of a server; `Client.skills` gives it.

    Args:
        session: the session with the server.
    """

    def __init__(self, session: ClientSession) -> None:
        self._extension = ClientExtension(session, SKILLS)
        self._session = session
        self._tampered: set[str] = set()

    async def list(self) -> list[ListedSkill]:
        """The skills that the server lists, which need not be all that it has.

        Raises:
            NotOffered: the server has no skills.
            WrongAnswer: what it lists are none.
        """
        found: list[ListedSkill] = []
        seen: set[str] = set()
        params: JsonObject = {}
        for _ in range(_MOST_PAGES):
            page = await self._extension.call("skills/list", params)
            skills, cursor = page.get("skills"), page.get("nextCursor")
            if not isinstance(skills, list):
                raise WrongAnswer("skills/list: skills is no list")
            found += map(_listed, skills)
            if not isinstance(cursor, str) or cursor in seen:
                break
            seen.add(cursor)
            params = {"cursor": cursor}
        return found

    async def get(self, uri: str) -> ListedSkill:
        """A skill by the address of its `SKILL.md`, as it is now.

        Raises:
            RequestRefused: there is no skill at this address.
            WrongAnswer: what the server tells of it is none.
        """
        told = await self._extension.call("skills/get", {"uri": uri})
        skill = _listed(told.get("skill"))
        self._tampered.discard(skill.uri)
        return skill

    async def read(self, skill: ListedSkill, uri: str | None = None) -> bytes:
        """What a file of a skill holds, if it is what was listed.

        Args:
            skill: the skill.
            uri: the address of one of its files; None for its `SKILL.md`.

        Raises:
            Tampered: it is not, or it was not listed.
            ClientError: it cannot be read.
        """
        wanted = uri or skill.uri
        if skill.uri in self._tampered:
            raise Tampered(f"the skill {skill.name!r} was not what was listed; look it up anew")
        try:
            listed = _file(skill, wanted)
            content = _content(await self._session.request(_READ, {"uri": wanted}), wanted)
            _check(skill, listed, wanted, content)
        except Tampered:
            self._tampered.add(skill.uri)
            raise
        return content


def _file(skill: ListedSkill, uri: str) -> ListedFile | None:
    if skill.files is None:
        return None
    for one in skill.files:
        if one.uri == uri:
            return one
    raise Tampered(f"{uri} is no file that was listed of the skill {skill.name!r}")


def _check(skill: ListedSkill, listed: ListedFile | None, uri: str, content: bytes) -> None:
    if listed is not None:
        if listed.size is not None and listed.size != len(content):
            raise Tampered(f"{uri} has {len(content)} bytes, and was listed with {listed.size}")
        if listed.digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
            raise Tampered(f"{uri} is not what was listed: its digest is another")
    if uri == skill.uri:
        try:
            found = read_frontmatter(content)
        except SkillFault as fault:
            raise Tampered(f"{uri}: {fault}") from None
        if found != skill.frontmatter:
            raise Tampered(f"{uri}: its front matter is not what was listed")


def _content(read: JsonObject, uri: str) -> bytes:
    contents = read.get("contents")
    first: Json = contents[0] if isinstance(contents, list) and contents else None
    text, blob = member(first, "text"), member(first, "blob")
    if isinstance(text, str):
        return text.encode()
    try:
        return base64.b64decode(blob, validate=True)
    except (TypeError, binascii.Error):
        raise WrongAnswer(f"{uri}: what the server gives is neither text nor bytes") from None


def _listed(told: Any) -> ListedSkill:
    uri, frontmatter, files = member(told, "uri"), member(told, "frontmatter"), member(told, "resources")
    texts = (uri, member(frontmatter, "name"), member(frontmatter, "description"))
    if not isinstance(frontmatter, dict) or not all(isinstance(one, str) for one in texts):
        raise WrongAnswer("a listed skill has an address, and front matter with name and description")
    if files is None:
        return ListedSkill(uri, frontmatter, None)
    if not isinstance(files, list):
        raise WrongAnswer(f"{uri}: resources is no list")
    found = []
    for one in files:
        address, digest, size = member(one, "uri"), member(one, "digest"), member(one, "size")
        if not isinstance(address, str) or not isinstance(digest, str) or not isinstance(size, int | None):
            raise WrongAnswer(f"{uri}: a listed file has an address and a digest")
        found.append(ListedFile(address, digest, size))
    return ListedSkill(uri, frontmatter, tuple(found))

"""Skills: listed, read, noticed when they change, and never a way out of their folder."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_anyrev import Client, ErrorAnswer, RegistrationError, Registry, RequestRefused, Server, Skills
from mcp_anyrev.client.skills import SKILLS, ListedSkill, Tampered
from mcp_anyrev.declaring.skill_files import SkillFault, content_of, files_below, read_yaml
from mcp_revisions.protocol import Adapter

FRONT = "---\nname: {name}\ndescription: Cooks {name}.\nmetadata:\n  version: 1.0\n  on: yes\n---\n# {name}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two skills, one within the other, beside what is none."""
    root = tmp_path / "skills"
    soup = root / "meals" / "soup"
    (soup / "notes").mkdir(parents=True)
    (soup / "SKILL.md").write_text(FRONT.format(name="soup"))
    (soup / "notes" / "leek.txt").write_text("leek")
    (soup / "picture.png").write_bytes(b"\x89PNG\xff")
    (soup / "stock").mkdir()
    (soup / "stock" / "SKILL.md").write_text(FRONT.format(name="stock"))
    (root / "loose.txt").write_text("of no skill")
    (tmp_path / "secret.txt").write_text("a secret")
    return root


@contextlib.asynccontextmanager
async def connected(adapter: Adapter, skills: Skills, **options: Any) -> AsyncIterator[Client]:
    registry = Registry("kitchen", "1.0")
    registry.extension(skills)
    async with (
        Server(registry) as server,
        Client(server.connect, adapter, extensions={SKILLS: {}}, **options) as client,
    ):
        await client.initialize()
        yield client


async def test_they_are_listed_and_read_on_every_revision(adapter: Adapter, folder: Path) -> None:
    async with connected(adapter, Skills(folder)) as client:
        found = {skill.name: skill for skill in await client.skills.list()}
        assert set(found) == {"soup", "stock"}
        soup = found["soup"]
        assert soup.frontmatter == {
            "name": "soup",
            "description": "Cooks soup.",
            "metadata": {"version": 1.0, "on": "yes"},
        }
        assert soup.uri == (adapter.extension_address(SKILLS, "meals/soup/SKILL.md") or "skill://meals/soup/SKILL.md")
        assert soup.files is not None
        names = [one.uri.partition("meals/soup/")[2] for one in soup.files]
        assert sorted(names) == ["SKILL.md", "notes/leek.txt", "picture.png", "stock/SKILL.md"]
        assert await client.skills.get(soup.uri) == soup
        contents = [await client.skills.read(soup, one.uri) for one in soup.files]
        assert contents == [(folder / "meals" / "soup" / name).read_bytes() for name in names]
        listed = {one.uri: one for one in await client.list_resources()}
        assert {one.uri for one in soup.files} <= set(listed)
        assert (listed[soup.uri].name, listed[soup.uri].mime_type) == ("soup", "text/markdown")
        assert not [uri for uri in listed if "loose" in uri]


async def test_whoever_sees_that_they_are_there_may_ask_for_them(native_adapter: Adapter, folder: Path) -> None:
    """Only the server declares skills."""
    registry = Registry("kitchen", "1.0")
    registry.extension(Skills(folder))
    async with Server(registry) as server, Client(server.connect, native_adapter) as client:
        assert len(await client.skills.list()) == 2


async def test_a_folder_can_be_listed(adapter: Adapter, folder: Path) -> None:
    async with connected(adapter, Skills(folder)) as client:
        base = adapter.extension_address(SKILLS, "meals") or "skill://meals"
        told = await client.extension(SKILLS).call("resources/directory/read", {"uri": f"{base}/soup"})
        assert [(one["name"], one["mimeType"]) for one in told["resources"]] == [
            ("SKILL.md", "text/markdown"),
            ("notes", "inode/directory"),
            ("picture.png", "image/png"),
            ("stock", "inode/directory"),
        ]
        for uri in (f"{base}/nowhere", f"{base}/soup/SKILL.md", "skill://", "file:///"):
            with pytest.raises(RequestRefused):
                await client.extension(SKILLS).call("resources/directory/read", {"uri": uri})


async def test_nothing_is_read_before_it_is_asked_for(native_adapter: Adapter, folder: Path) -> None:
    sent: list[Any] = []
    async with connected(native_adapter, Skills(folder), on_wire=sent.append) as client:
        await client.skills.list()
    assert not [one for one in sent if b"resources/read" in getattr(one, "message", b"")]


async def test_what_is_not_as_it_was_listed_is_not_given_on(adapter: Adapter, folder: Path) -> None:
    soup_file = folder / "meals" / "soup" / "SKILL.md"
    async with connected(adapter, Skills(folder, watch_seconds=None)) as client:
        listed = {skill.name: skill for skill in await client.skills.list()}
        soup_file.write_text(FRONT.format(name="soup") + "and poison")
        with pytest.raises(Tampered):
            await client.skills.read(listed["soup"])
        assert listed["soup"].files is not None
        with pytest.raises(Tampered):  # nothing more of it is read
            await client.skills.read(listed["soup"], listed["soup"].files[1].uri)
        assert await client.skills.read(listed["stock"])
        other = adapter.extension_address(SKILLS, "meals/soup/notes/leek.txt") or "skill://meals/soup/notes/leek.txt"
        with pytest.raises(Tampered, match="no file that was listed"):
            await client.skills.read(listed["stock"], other)


def entry(skill: ListedSkill, **changed: Any) -> ListedSkill:
    return ListedSkill(**{"uri": skill.uri, "frontmatter": skill.frontmatter, "files": skill.files, **changed})


async def test_another_front_matter_than_was_listed_is_noticed(adapter: Adapter, folder: Path) -> None:
    async with connected(adapter, Skills(folder)) as client:
        soup = next(skill for skill in await client.skills.list() if skill.name == "soup")
        with pytest.raises(Tampered, match="front matter"):
            await client.skills.read(entry(soup, frontmatter={**soup.frontmatter, "allowed-tools": "all"}, files=None))


async def test_changes_on_disk_are_told(adapter: Adapter, folder: Path) -> None:
    skills = Skills(folder, watch_seconds=0.02)
    async with connected(adapter, skills) as client:
        soup = next(skill for skill in await client.skills.list() if skill.name == "soup")
        async with client.listen("resources", uris=[soup.uri]) as changes:
            (folder / "meals" / "soup" / "SKILL.md").write_text(FRONT.format(name="soup") + "more")
            (folder / "meals" / "soup" / "new.txt").write_text("new")
            heard: set[tuple[str, str | None]] = set()
            async for change in changes:
                heard.add(tuple(change))
                if heard == {("resources", None), ("contents", soup.uri)}:
                    break
        again = await client.skills.get(soup.uri)
        assert again.files is not None and soup.files is not None
        assert len(again.files) == len(soup.files) + 1
        assert (await client.skills.read(again)).endswith(b"more")
        (folder / "meals" / "soup" / "SKILL.md").unlink()
        while len(await client.skills.list()) > 1:
            pass
        with pytest.raises(ErrorAnswer):
            await client.read_resource(soup.uri)


async def test_skills_come_from_code_as_well(adapter: Adapter) -> None:
    skills = Skills()
    skills.add("meals/tea", {"SKILL.md": FRONT.format(name="tea"), "data.bin": b"\xff\x00"})
    made = iter(range(9))
    skills.add("now", {"SKILL.md": lambda: FRONT.format(name="now") + str(next(made))})
    async with connected(adapter, skills) as client:
        found = {skill.name: skill for skill in await client.skills.list()}
        assert found["now"].files is None
        assert await client.skills.read(found["now"]) != await client.skills.read(found["now"])
        tea = found["tea"]
        assert tea.files is not None
        assert [await client.skills.read(tea, one.uri) for one in tea.files][1] == b"\xff\x00"
        skills.remove("meals/tea")
        assert [skill.name for skill in await client.skills.list()] == ["now"]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("tea", {}),
        ("tea", {"SKILL.md": "no front matter"}),
        ("tea", {"SKILL.md": FRONT.format(name="coffee")}),
        ("Tea", {"SKILL.md": FRONT.format(name="Tea")}),
        ("tea", {"SKILL.md": "---\nname: tea\n---\n"}),
        ("tea", {"SKILL.md": "---\n- a\n---\n"}),
        ("tea", {"SKILL.md": "---\nname: [\n---\n"}),
        ("../tea", {"SKILL.md": FRONT.format(name="tea")}),
        ("a//tea", {"SKILL.md": FRONT.format(name="tea")}),
        ("tea", {"SKILL.md": FRONT.format(name="tea"), "../x": ""}),
        ("tea", {"SKILL.md": FRONT.format(name="tea"), "/x": ""}),
    ],
)
def test_what_is_no_skill_is_refused(path: str, files: Any) -> None:
    with pytest.raises(RegistrationError, match="skill"):
        Skills().add(path, files)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistrationError, match="no folder"):
        Skills(tmp_path / "nowhere")


def test_a_broken_skill_does_not_spoil_the_others(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "meals" / "soup" / "stock" / "SKILL.md").write_text("nothing")
    with caplog.at_level(logging.ERROR, "mcp_anyrev.server"):
        assert set(Skills(folder).skills) == {"meals/soup"}
    assert "meals/soup/stock" in caplog.text


def test_yaml_is_read_as_json_has_it() -> None:
    text = b"a: yes\nb: 1.50\nc: 2024-01-02\nd: 012\ne: ~\nf:\ng: true\nh: 0x1f\ni: '1'\nj: 1e3\nk: no\n"
    assert read_yaml(text) == {
        "a": "yes", "b": 1.5, "c": "2024-01-02", "d": 12, "e": None, "f": None, "g": True, "h": 31, "i": "1", "j": 1000.0, "k": "no",
    }  # fmt: skip
    for bad in (b"[", b"a: !!python/object/apply:os.system ['true']", b"a: " + b"[" * 5_000, b"\xff"):
        with pytest.raises(SkillFault):
            read_yaml(bad)


# --- Nothing leads out of a folder ---


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    soup = folder / "meals" / "soup"
    (soup / "link.txt").symlink_to(tmp_path / "secret.txt")
    (soup / "above").symlink_to(tmp_path)
    (folder / "elsewhere").symlink_to(tmp_path)
    found = {"/".join(parts) for parts in files_below(folder)}
    assert not [one for one in found if "link" in one or "above" in one or "elsewhere" in one]
    for parts in (("meals", "soup", "link.txt"), ("meals", "soup", "above", "secret.txt"), ("elsewhere", "secret.txt")):
        with pytest.raises(SkillFault):
            content_of(folder, parts)


async def test_a_file_that_became_a_link_is_not_read(adapter: Adapter, folder: Path, tmp_path: Path) -> None:
    leek = folder / "meals" / "soup" / "notes" / "leek.txt"
    async with connected(adapter, Skills(folder, watch_seconds=None)) as client:
        uri = adapter.extension_address(SKILLS, "meals/soup/notes/leek.txt") or "skill://meals/soup/notes/leek.txt"
        leek.unlink()
        leek.symlink_to(tmp_path / "secret.txt")
        with pytest.raises(ErrorAnswer):
            await client.read_resource(uri)
        leek.unlink()
        os.rename(folder / "meals" / "soup" / "notes", tmp_path / "notes")
        (tmp_path / "notes" / "leek.txt").write_text("a secret")
        (folder / "meals" / "soup" / "notes").symlink_to(tmp_path / "notes")
        with pytest.raises(ErrorAnswer):
            await client.read_resource(uri)


PIECES = st.sampled_from(
    ["..", ".", "", "/", "%2e%2e", "%2F", "\\", "secret.txt", "skills", "meals", "soup", "SKILL.md", "\x00", "~", "C:"]
)


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=6))
def test_no_path_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    outer = tmp_path_factory.getbasetemp() / "kept"
    root = outer / "skills"
    root.mkdir(parents=True, exist_ok=True)
    (outer / "secret.txt").write_text("a secret")
    (root / "plain.txt").write_text("plain")
    with contextlib.suppress(SkillFault, ValueError):
        assert content_of(root, tuple(pieces)) != b"a secret"


def test_a_file_that_is_too_large_is_left_out(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "meals" / "soup" / "stock" / "large.bin").write_bytes(bytes(5 * 1024 * 1024))
    assert Skills(folder).skills == {}  # it is a file of both
    assert "large.bin" in caplog.text

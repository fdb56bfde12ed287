"""Every snippet of README and docs does what it says."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from mcp_revisions import AdapterSet
from snippets import (
    ADDRESS,
    ROOT,
    Block,
    Command,
    blocks,
    commands,
    files_of,
    of_these_revisions,
    run_command,
    run_python,
    served,
)

pytestmark = [pytest.mark.long, of_these_revisions]

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")])
DRAWINGS = ("", "text")
"""Languages of blocks that are for the eye."""

RUN_ELSEWHERE = {"docs/add-a-revision.md": ("tests/revisions/test_documented_addition.py", "2027-03-01")}
"""Pages whose commands change the project, with the test that does the same on a copy, and the revision that both add."""


def of(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language == language]


def here(found: list[Block]) -> list[Block]:
    return [block for block in found if block.page not in RUN_ELSEWHERE]


@pytest.mark.parametrize("page", sorted({block.page for block in here(of("python"))}))
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str) -> None:
    asyncio.run(run_python([block for block in of("python") if block.page == page]))


@pytest.mark.parametrize("block", here(of("console")), ids=str)
def test_commands_do_what_the_page_says(block: Block, tmp_path: Path) -> None:
    page = blocks(ROOT / block.page)
    files = files_of(page)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    folder = tmp_path if files else ROOT
    with served(page, folder) if ADDRESS in block.text and "serve" not in block.text else nullcontext(ADDRESS) as url:
        for command in commands(block):
            run_command(Command(command.line.replace(ADDRESS, url), command.output), folder)


def test_the_tests_on_the_page_about_testing_run_in_every_revision(tmp_path: Path) -> None:
    texts = [block.text for block in of("python") if block.page == "docs/testing.md"]
    (conftest,) = [text for text in texts if text.startswith("# conftest.py\n")]
    # What awaits outside of a function is run by the test of the page.
    rest = [text for text in texts if text is not conftest and "\nasync with" not in f"\n{text}"]
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_page.py").write_text("\n".join(rest))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:anyio", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert f"{len(AdapterSet.default().versions)} passed" in ran.stdout, ran.stdout


def test_data_can_be_read() -> None:
    for block in here(of("json")):
        json.loads(block.text)
    for block in here(of("yaml")):
        list(yaml.compose_all(block.text))


def test_every_block_is_run_or_read() -> None:
    known = ("python", "console", "json", "yaml", *DRAWINGS)
    for page in PAGES:
        for block in blocks(page):
            assert block.language in known or block.page in RUN_ELSEWHERE, f"{block}: nobody runs {block.language!r}"
            assert not block.text.startswith("$ ") or block.language == "console", f"{block}: a command in a drawing"


@pytest.mark.parametrize(("page", "run"), RUN_ELSEWHERE.items())
def test_a_page_that_is_run_elsewhere_is(page: str, run: tuple[str, str]) -> None:
    test, revision = run
    assert all(revision in (ROOT / path).read_text("utf-8") for path in (page, test))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_a_broken_snippet_would_fail() -> None:
    with pytest.raises(AssertionError):
        asyncio.run(run_python([Block("page.md", 3, "python", "assert 1 == 2\n")]))
    with pytest.raises(AssertionError):
        run_command(commands(Block("page.md", 1, "console", "$ mcp-anyrev --version\nanother version\n"))[0])
    with pytest.raises(AssertionError, match="nobody knows"):
        run_command(commands(Block("page.md", 1, "console", "$ format-disk\n"))[0])

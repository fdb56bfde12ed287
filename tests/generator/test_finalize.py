"""A draft that becomes final keeps all that a person wrote into its entry but for what the final one has otherwise."""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest

from .conftest import Toy

DRAFT, FINAL, OLD = "2003-03-03-rc.1", "2003-03-03", "2002-02-02"
REVISIONS = "specs/revisions.yaml"


@pytest.fixture
def schema(toy: Toy, tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "schema.json"
    file.write_text((toy.root / f"specs/schemas/{OLD}.json").read_text("utf-8"), "utf-8")
    assert toy.run("new", DRAFT, "--schema", str(file), "--like", OLD, "--after", OLD).exit_code == 0
    published = json.loads(file.read_text("utf-8"))
    published["$defs"]["Letter"]["properties"]["scent"] = {"type": "string"}
    file.write_text(json.dumps(published), "utf-8")
    return file


ENTRY = f"""\
  # The one that everybody waits for.
  "{DRAFT}":   # in spring
    # Read on the first of March.
    source: https://example.org/draft.json   # moved twice
    sha256: "{"0" * 64}"
    # Nobody has the pages yet.
    pages: https://example.org/draft
    draft: yes   # until it is published
    # The end.
"""


@pytest.mark.parametrize("draft", ["    draft: yes   # until it is published\n", ""])
def test_comments_in_the_entry_of_a_draft_stay(toy: Toy, schema: pathlib.Path, draft: str) -> None:
    file = toy.root / REVISIONS
    head = file.read_text("utf-8").partition(f'  "{DRAFT}":')[0]
    file.write_text(head + ENTRY.replace("    draft: yes   # until it is published\n", draft), "utf-8")
    result = toy.run("finalize", DRAFT, FINAL, "--schema", str(schema), "--source", "https://example.org/final.json")
    assert result.exit_code == 0, result.output
    assert file.read_text("utf-8") == head + (
        f"""\
  # The one that everybody waits for.
  "{FINAL}":   # in spring
    # Read on the first of March.
    source: https://example.org/final.json   # moved twice
    sha256: {hashlib.sha256(schema.read_bytes()).hexdigest()}
    # Nobody has the pages yet.
    pages: https://modelcontextprotocol.io/specification/{FINAL}
    reference: https://modelcontextprotocol.io/specification/{FINAL}/schema
    # The end.
"""
    )


def test_an_entry_on_one_line_becomes_final_there(toy: Toy, schema: pathlib.Path) -> None:
    file = toy.root / REVISIONS
    head = file.read_text("utf-8").partition(f'  "{DRAFT}":')[0]
    entry = '{source: https://a.org, sha256: "%s", pages: https://b.org, reference: https://c.org, draft: yes}' % (
        "0" * 64
    )
    file.write_text(f'{head}  "{DRAFT}": {entry}  # soon\n', "utf-8")
    result = toy.run("finalize", DRAFT, FINAL, "--schema", str(schema), "--source", "https://d.org")
    assert result.exit_code == 0, result.output
    last = file.read_text("utf-8").removeprefix(head)
    assert last.startswith(f'  "{FINAL}": {{source: https://d.org, sha256: ')
    assert last.endswith(f"reference: https://modelcontextprotocol.io/specification/{FINAL}/schema}}  # soon\n")
    assert last.count("\n") == 1

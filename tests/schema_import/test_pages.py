"""What `revgen pages` reads off a checkout of the specification, and that citations and addresses hold to it."""

from __future__ import annotations

import hashlib
import json
import pathlib

import click.testing
import pytest
from revgen.editing.pages import anchor, anchors
from revgen.main import revgen
from revgen.reading.located import Problems
from revgen.schemas.pages import Pages, load_pages, read_pages
from revgen.schemas.revisions import Revision, load_revisions

ROOT = pathlib.Path(__file__).parents[2]
SCHEMA = '{\n  "$defs": {\n    "Letter": {"type": "object"},\n    "Stamp": {\n      "type": "string"\n    }\n  }\n}\n'
PAGE = """\
---
title: Letters
# not a heading
---

# Letters

```md
## Not a heading either
```

## Sending

### `Letter`
## Sending
  ## A [link](#sending) & more ##
"""


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Protocol Version Header", "protocol-version-header"),
        ("`_meta`", "_meta"),
        ("Security & Endpoint", "security-&-endpoint"),
        ("HTTP+SSE Transport (2024-11-05)", "http+sse-transport-2024-11-05"),
        ("Default dialect (2020-12):", "default-dialect-2020-12"),
        ("`tools/list`", "tools-list"),
    ],
)
def test_a_heading_has_an_anchor(heading: str, expected: str) -> None:
    assert anchor(heading) == expected


def test_headings_are_read_where_they_are_some() -> None:
    assert list(anchors(PAGE)) == ["letters", "sending", "letter", "sending-2", "a-link-&-more"]


def project(root: pathlib.Path, checkout: pathlib.Path, *, reference: bool = True) -> pathlib.Path:
    """A root with one revision, and a checkout with its pages and its schema."""
    pages = checkout / "docs/specification/2001-01-01"
    pages.mkdir(parents=True)
    (pages / "letters.mdx").write_text(PAGE, "utf-8")
    (pages / "schema.mdx").write_text("### `Letter`\n", "utf-8")
    (checkout / "schema").mkdir()
    (checkout / "schema/schema.json").write_text(SCHEMA, "utf-8")
    (root / "specs/schemas").mkdir(parents=True)
    (root / "specs/schemas/2001-01-01.json").write_text(SCHEMA, "utf-8")
    (root / "specs/revisions.yaml").write_text(
        'revisions:\n  "2001-01-01":\n'
        "    source: https://example.org/letters/blob/0123abc/schema/schema.json\n"
        f"    sha256: {hashlib.sha256(SCHEMA.encode()).hexdigest()}\n"
        "    pages: https://example.org/2001-01-01\n"
        + ("    reference: https://example.org/2001-01-01/schema\n" if reference else ""),
        "utf-8",
    )
    return root


def run(root: pathlib.Path, *arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(revgen, ["pages", "--root", str(root), *arguments])


def test_pages_are_written_down_as_facts(tmp_path: pathlib.Path) -> None:
    root = project(tmp_path / "root", tmp_path / "checkout")
    result = run(root, "2001-01-01", str(tmp_path / "checkout"))
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "2001-01-01: 2 pages, 6 headings, 1 lines of the schema\nwrote specs/pages/2001-01-01.txt\n"
    )
    lines = (root / "specs/pages/2001-01-01.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "letters#letters",
        "letters#sending",
        "letters#letter",
        "letters#sending-2",
        "letters#a-link-&-more",
        "schema#letter",
        "schema.json#L4 Stamp",
    ]
    again = run(root, "2001-01-01", str(tmp_path / "checkout/docs/specification/2001-01-01"))
    # Without the schema nobody knows its lines.
    assert "0 lines of the schema\nwrote " in again.stdout
    assert run(root, "2001-01-01", str(tmp_path / "checkout/docs/specification/2001-01-01")).stdout.endswith(
        "everything is there already\n"
    )


def test_an_address_leads_to_a_heading_or_a_line(tmp_path: pathlib.Path) -> None:
    source = "https://example.org/letters/blob/0123abc/schema/schema.json"
    for name, reference, letter in (
        ("with", True, "https://example.org/2001-01-01/schema#letter"),
        ("without", False, f"{source}#L3"),
    ):
        root = project(tmp_path / name / "root", tmp_path / name / "checkout", reference=reference)
        run(root, "2001-01-01", str(tmp_path / name / "checkout"))
        [revision] = load_revisions(root, Problems())
        assert revision.link("Letter") == letter
        assert revision.link("Stamp") == f"{source}#L4"


def test_another_schema_than_the_imported_one_tells_no_lines(tmp_path: pathlib.Path) -> None:
    root = project(tmp_path / "root", tmp_path / "checkout")
    (tmp_path / "checkout/schema/schema.json").write_text(SCHEMA + "\n", "utf-8")
    assert "0 lines of the schema" in run(root, "2001-01-01", str(tmp_path / "checkout")).stdout


def test_a_folder_without_pages_is_wrong_usage(tmp_path: pathlib.Path) -> None:
    root = project(tmp_path / "root", tmp_path / "checkout")
    (tmp_path / "empty").mkdir()
    result = run(root, "2001-01-01", str(tmp_path / "empty"))
    assert result.exit_code == 2
    assert "has no pages of 2001-01-01; allowed: a checkout with docs/specification/2001-01-01" in result.stderr
    assert run(root, "2002-02-02", str(tmp_path / "checkout")).exit_code == 2
    assert not (root / "specs/pages").exists()


def test_a_line_of_another_form_is_a_located_complaint() -> None:
    problems = Problems()
    read_pages(["# Pages", "", "letters#sending", "letters # sending"], "specs/pages/x.txt", problems)
    assert [str(problem) for problem in problems.found] == [
        "specs/pages/x.txt:4:1: 'letters # sending' tells of no page; allowed: '<path>#<heading>', "
        "'<path>' for a page without headings, 'schema.json#L<line> <definition>'"
    ]


@pytest.mark.parametrize("revision", load_revisions(ROOT, Problems()), ids=lambda revision: revision.version)
def test_every_published_definition_has_an_anchor(revision: Revision) -> None:
    version = revision.version
    pages = load_pages(ROOT, version, Problems())
    if pages is None:
        pytest.skip("nobody has written its pages down")
    assert read_pages(pages.text(version).splitlines(), "", Problems()) == pages
    reference = pages.headings.get("schema", ())
    schema = json.loads((ROOT / f"specs/schemas/{version}.json").read_text("utf-8"))
    lacking = [name for name in schema["x-published"] if name.lower() not in reference and name not in pages.lines]
    assert lacking == []


def test_pages_that_nobody_wrote_down_are_none(tmp_path: pathlib.Path) -> None:
    assert load_pages(tmp_path, "2001-01-01", Problems()) is None
    assert Pages({}).text("2001-01-01").count("\n") == 2


def test_what_is_written_anew_may_be_broken(tmp_path: pathlib.Path) -> None:
    root = project(tmp_path / "root", tmp_path / "checkout")
    assert run(root, "2001-01-01", str(tmp_path / "checkout")).exit_code == 0
    file = root / "specs/pages/2001-01-01.txt"
    right = file.read_bytes()
    for broken in (b"\xff", b"no such line at all\n"):
        file.write_bytes(broken)
        result = run(root, "2001-01-01", str(tmp_path / "checkout"))
        assert result.exit_code == 0, result.output
        assert file.read_bytes() == right

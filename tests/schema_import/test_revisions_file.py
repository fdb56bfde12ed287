"""`specs/revisions.yaml`: the order, and what is said about a file that is wrong."""

from __future__ import annotations

import pathlib

import pytest
from revgen.reading.located import Problems
from revgen.schemas.revisions import load_revisions

FACTS = f"""
    source: https://example.com/schema.json
    sha256: {"a" * 64}
    pages: https://example.com/pages/"""

AT = "specs/revisions.yaml"


def load(root: pathlib.Path, text: str, *schemas: str) -> tuple[list[str], list[str]]:
    (root / "specs" / "schemas").mkdir(parents=True)
    (root / "specs" / "revisions.yaml").write_text(text, "utf-8")
    for name in schemas:
        (root / "specs" / "schemas" / f"{name}.json").write_text("{}")
    problems = Problems()
    revisions = load_revisions(root, problems)
    return [revision.version for revision in revisions], [str(problem) for problem in sorted(problems.found)]


def test_there_is_one_revision_at_least_that_is_no_draft(tmp_path: pathlib.Path) -> None:
    _, faults = load(tmp_path / "empty", "revisions: {}\n")
    assert faults == ["specs/revisions.yaml:1:1: there are no revisions; allowed: one at least"]
    _, faults = load(tmp_path, f'revisions:\n  "2001-01-01":{FACTS}\n    draft: yes\n', "2001-01-01")
    assert faults == [
        "specs/revisions.yaml:2:3: every revision is a draft, so that none is served by default; "
        "allowed: a final one at least"
    ]


def test_the_order_is_that_of_the_file(tmp_path: pathlib.Path) -> None:
    text = f'revisions:\n  "2002-01-01":{FACTS}\n  "2001-01-01":{FACTS}\n'
    assert load(tmp_path, text, "2001-01-01", "2002-01-01") == (["2002-01-01", "2001-01-01"], [])


def test_a_definition_is_linked_to_the_reference_page_or_else_to_the_schema(tmp_path: pathlib.Path) -> None:
    reference = "\n    reference: https://example.com/reference"
    load(tmp_path, f'revisions:\n  "1":{FACTS}\n  "2":{FACTS}{reference}\n', "1", "2")
    one, two = load_revisions(tmp_path, Problems())
    assert one.link("CallToolRequest") == "https://example.com/schema.json"
    assert two.link("CallToolRequest") == "https://example.com/reference#calltoolrequest"
    assert one.pages == "https://example.com/pages"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            f"revisions:\n  2025-03-26:{FACTS}\n",
            [f"{AT}:2:3: a key is '2025-03-26'; allowed: \"2025-03-26\", in quotes"],
        ),
        (
            f'revisions:\n  "2031-01-01":{FACTS}\n',
            [f"{AT}:2:3: there is no specs/schemas/2031-01-01.json; 'revgen import 2031-01-01 FILE' writes it"],
        ),
        (
            f'revisions:\n  "2025-03-26":{FACTS}\n    page: x\n',
            [
                f"{AT}:6:5: 'page' is not a key of revision '2025-03-26'; allowed: source, sha256, pages, reference, draft"
            ],
        ),
        (
            'revisions:\n  "2025-03-26":\n    pages: [a]\n    source: x\n',
            [
                f"{AT}:2:3: revision '2025-03-26' has no 'sha256'; allowed: source, sha256, pages, reference, draft",
                f"{AT}:3:12: 'pages' is a list; allowed: text",
            ],
        ),
        (
            'revisions:\n  "2025-03-26":\n    pages: a\n    source: x\n    sha256: ABC\n',
            [f"{AT}:5:13: 'sha256' is 'ABC'; allowed: 64 hexadecimal digits in lower case"],
        ),
        (
            'revisions:\n  "2025-03-26": x\n',
            [f"{AT}:2:17: '2025-03-26' is 'x'; allowed: a mapping of source, sha256, pages, reference, draft"],
        ),
        (
            f'revisions:\n  "a/../b":{FACTS}\n',
            [
                f"{AT}:2:3: a key is \"a/../b\"; allowed: letters and digits of ASCII, joined by '-', '.' or '_', 64 characters at most, and no device of Windows"
            ],
        ),
        (
            f'revisions:\n  "2025-03-26":{FACTS}\n  "2025.03.26":{FACTS}\n',
            [f"{AT}:6:3: revision 2025.03.26 and 2025-03-26 would both be the package 'v2025_03_26'"],
        ),
        ("revisions: []\n", [f"{AT}:1:12: 'revisions' is an empty list; allowed: a mapping"]),
        (
            "revisons: {}\n",
            [
                f"{AT}:1:1: 'revisons' is not a key of this file; near: revisions; allowed: revisions, removed",
            ],
        ),
    ],
)
def test_a_wrong_file_is_reported_where_it_is_wrong(tmp_path: pathlib.Path, text: str, problems: list[str]) -> None:
    assert load(tmp_path, text, "2025-03-26", "2025.03.26")[1] == problems

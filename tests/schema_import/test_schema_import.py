"""Importing a schema: all or nothing, and the same bytes again."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest
from revgen.editing.importing import Declared, ImportRefused, import_schema
from revgen.reading.located import Problems
from revgen.schemas.published import load_schemas
from revgen.schemas.revisions import load_revisions

ROOT = pathlib.Path(__file__).parents[2]

SMALL = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "Ping": {
                "description": "Asks for a sign of life.",
                "type": "object",
                "properties": {
                    "method": {"const": "ping", "type": "string"},
                    "params": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
                "required": ["method"],
            }
        },
    }
).encode()


def files(root: pathlib.Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_an_import_writes_the_normal_form_and_the_entry(tmp_path: pathlib.Path) -> None:
    report = import_schema(tmp_path, "2001-02-03", SMALL, Declared(source="https://example.com/schema.json"))
    assert report.published == 1
    assert report.hoisted == ("PingParams",)
    assert report.changed == ("specs/schemas/2001-02-03.json", "specs/revisions.yaml")
    assert report.steps["prose left out"] == 1
    assert set(files(tmp_path)) == set(report.changed)
    text = files(tmp_path)["specs/revisions.yaml"].decode()
    assert text.startswith("# yaml-language-server: $schema=../generated/editors/revisions.schema.json\n")
    problems = Problems()
    (revision,) = load_revisions(tmp_path, problems)
    assert problems.found == []
    assert (revision.version, revision.module) == ("2001-02-03", "v2001_02_03")
    assert revision.source == "https://example.com/schema.json"
    assert revision.sha256 == report.sha256 == hashlib.sha256(SMALL).hexdigest()
    assert list(load_schemas(tmp_path, [revision], problems)["2001-02-03"]["$defs"]) == ["Ping", "PingParams"]


def test_importing_again_changes_no_byte(tmp_path: pathlib.Path) -> None:
    import_schema(tmp_path, "2001-02-03", SMALL)
    before = files(tmp_path)
    assert import_schema(tmp_path, "2001-02-03", SMALL).changed == ()
    assert files(tmp_path) == before


def test_check_only_writes_nothing(tmp_path: pathlib.Path) -> None:
    report = import_schema(tmp_path, "2001-02-03", SMALL, check_only=True)
    assert report.changed == ("specs/schemas/2001-02-03.json", "specs/revisions.yaml")
    assert files(tmp_path) == {}


def test_an_entry_keeps_what_people_wrote(tmp_path: pathlib.Path) -> None:
    import_schema(tmp_path, "2001-02-03", SMALL)
    path = tmp_path / "specs" / "revisions.yaml"
    text = (
        path.read_text("utf-8")
        .replace("    reference:", "    # Not there yet.\n    reference:")
        .replace("pages: https://", "pages: http://")
    )
    path.write_text(text, "utf-8")
    import_schema(tmp_path, "2001-02-03", SMALL + b"\n")
    after = path.read_text("utf-8")
    assert "# Not there yet." in after and "pages: http://" in after
    assert hashlib.sha256(SMALL + b"\n").hexdigest() in after


def test_a_revision_that_was_taken_out_comes_back_to_its_place(tmp_path: pathlib.Path) -> None:
    for revision in ("2001-01-01", "2003-01-01", "2002-01-01"):
        import_schema(tmp_path, revision, SMALL)
    assert [revision.version for revision in load_revisions(tmp_path, Problems())] == [
        "2001-01-01",
        "2002-01-01",
        "2003-01-01",
    ]


@pytest.mark.parametrize(
    ("published", "problem"),
    [
        (b"{", "2001-02-03: line 1, column 2: not JSON: Expecting property name enclosed in double quotes"),
        (b"[]", "2001-02-03: the top level is no object"),
        (b"\xff", "2001-02-03: byte 1: not UTF-8"),
        (
            SMALL.replace(b'"const"', b'"costn"'),
            "2001-02-03: /definitions/Ping/properties/method/costn: the keyword 'costn' is not understood; "
            "specs/keywords.yaml may declare it harmless",
        ),
        (
            SMALL.replace(b'"ping"', b'"ping", "pattern": "^never$"'),
            "2001-02-03: the normal form is not proven: definition 'Ping': no valid instance could be made, so nothing is shown",
        ),
    ],
)
def test_what_cannot_be_imported_is_refused_and_nothing_is_written(
    tmp_path: pathlib.Path, published: bytes, problem: str
) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_schema(tmp_path, "2001-02-03", published)
    assert caught.value.problems == (problem,)
    assert files(tmp_path) == {}


def test_a_name_that_means_something_else_in_another_revision_is_refused(tmp_path: pathlib.Path) -> None:
    import_schema(tmp_path, "2001-02-03", SMALL)
    before = files(tmp_path)
    other = SMALL.replace(b'"Ping"', b'"PingParams"').replace(b'"n"', b'"m"')
    with pytest.raises(ImportRefused) as caught:
        import_schema(tmp_path, "2002-02-03", other)
    assert caught.value.problems == (
        "2002-02-03: the name 'PingParams' of an inline object is also another definition, hoisted in 2001-02-03",
    )
    assert files(tmp_path) == before


def test_every_imported_schema_can_be_imported_again() -> None:
    for path in sorted((ROOT / "specs" / "schemas").glob("*.json"))[:1]:
        report = import_schema(ROOT, path.stem, path.read_bytes(), check_only=True)
        assert f"specs/schemas/{path.name}" not in report.changed
        assert report.proof.taken > 24 * report.published


def test_the_bytes_do_not_depend_on_the_hash_seed(tmp_path: pathlib.Path) -> None:
    script = (
        "import pathlib, sys\n"
        "from revgen.editing.importing import import_schema\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "report = import_schema(root, '2001-02-03', pathlib.Path(sys.argv[2]).read_bytes())\n"
        "print(report)\n"
    )
    published = tmp_path / "published.json"
    published.write_bytes(SMALL)
    seen = []
    for seed in ("0", "1", "2"):
        root = tmp_path / seed
        command = [sys.executable, "-c", script, str(root), str(published)]
        run = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        seen.append((run.stdout, files(root)))
    assert seen[0] == seen[1] == seen[2]

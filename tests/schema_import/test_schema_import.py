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
from revgen.reading.located import Problems, SpecificationError
from revgen.schemas.published import load_schema, load_schemas
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
        (b"{", "1:2: not JSON: Expecting property name enclosed in double quotes"),
        (b"[]", "1:1: the top level is no object; allowed: a schema with definitions"),
        (b'{\n"a": "\xff"}', "2:1: byte 9: not UTF-8"),
        (b"\xef\xbb\xbf{}", "1:1: not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig)"),
        (b"[" * 100_000, "1:1: this is nested too deep; allowed: what a person can read"),
        (
            SMALL.replace(b'"integer"', b'"integer", "maximum": 1e999'),
            "1:273: 1e999 is no number that can be kept; allowed: a finite one",
        ),
        (
            SMALL.replace(b'"integer"', b'"integer", "maximum": 1' + b"0" * 5_000),
            f"1:273: 1{'0' * 119}… is no number that can be kept; allowed: a finite one",
        ),
        (
            SMALL.replace(b'"integer"', b'"integer",\n "type": "string"'),
            "2:2: duplicate key 'type'; first given at line 1",
        ),
        (
            SMALL.replace(b'"const"', b'"costn"'),
            "1:168: /definitions/Ping/properties/method/costn: the keyword 'costn' is not understood; "
            "specs/keywords.yaml may declare it harmless",
        ),
        (SMALL.replace(b'["method"]', b'"method"'), '1:277: no schema: "method" is not of type "array"'),
        (
            SMALL.replace(b'{"n": {"type": "integer"}}', b'["n"]'),
            '1:233: no schema: ["n"] is not of type "object"',
        ),
    ],
)
def test_a_file_that_is_no_schema_is_refused_at_its_place_and_nothing_is_written(
    tmp_path: pathlib.Path, published: bytes, problem: str
) -> None:
    with pytest.raises(SpecificationError) as caught:
        import_schema(tmp_path, "2001-02-03", published, path="a.json")
    assert [str(one) for one in caught.value.problems] == [f"a.json:{problem}"]
    assert files(tmp_path) == {}


def test_a_method_in_two_definitions_is_refused_at_the_second_one(tmp_path: pathlib.Path) -> None:
    schema = json.loads(SMALL)
    definitions = schema["definitions"]
    definitions["Pong"] = definitions["Ping"]
    definitions["ClientRequest"] = {"anyOf": [{"$ref": "#/definitions/Ping"}, {"$ref": "#/definitions/Pong"}]}
    message = "'Ping' and 'Pong' are both the client request 'ping'; allowed: one definition for each method"
    with pytest.raises(SpecificationError) as caught:
        import_schema(tmp_path, "2001-02-03", json.dumps(schema, indent=1).encode(), path="a.json")
    line = json.dumps(schema, indent=1).splitlines().index('  "Pong": {') + 1
    assert str(caught.value) == f"a.json:{line}:3: /definitions/Pong: {message}"
    assert files(tmp_path) == {}


def test_a_schema_without_a_proof_is_refused(tmp_path: pathlib.Path) -> None:
    published = SMALL.replace(b'"ping"', b'"ping", "pattern": "^never$"')
    with pytest.raises(ImportRefused) as caught:
        import_schema(tmp_path, "2001-02-03", published)
    assert caught.value.problems == (
        "2001-02-03: the normal form is not proven: definition 'Ping': no valid instance could be made, so nothing is shown",
    )
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{", "[", "not JSON: "),
        ('"type": "object"', '"type": "objekt"', '"objekt" is not valid under any of the schemas'),
        (
            '"type": "object"',
            '"type": "object", "title": "Ping"',
            "not in normal form; 'revgen import 2001-02-03 FILE' writes one",
        ),
        (
            '"type": "object"',
            '"type": "object", "costn": 1',
            "not in normal form: the keyword 'costn' is not understood",
        ),
        ('"Ping"\n', '"Pong"\n', "not in normal form; "),
        ('"$defs"', '"defs"', "not a schema in normal form; "),
    ],
)
def test_a_schema_that_somebody_changed_by_hand_is_a_fault_at_its_place(
    tmp_path: pathlib.Path, old: str, new: str, message: str
) -> None:
    import_schema(tmp_path, "2001-02-03", SMALL)
    file = tmp_path / "specs/schemas/2001-02-03.json"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    problems = Problems()
    (revision,) = load_revisions(tmp_path, problems)
    assert load_schema(tmp_path, revision, problems) is None
    assert [
        one for one in problems.found if one.place.path == "specs/schemas/2001-02-03.json" and message in one.message
    ]


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

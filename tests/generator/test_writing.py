"""What is written and removed, what is left alone, and what `check` believes."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib

import pytest
from revgen.reading.located import SpecificationError
from revgen.specification.comments import meaning
from revgen.specification.inputs import read_inputs
from revgen.writing import generated, render
from revgen.writing.manifest import is_current

from .conftest import Toy

ADAPTER = "generated/mcp_revisions/v2001_01_01/adapter.py"


def test_a_file_that_is_right_is_not_touched(generated_toy: Toy) -> None:
    generated_toy.replace("specs/variance/letters.yaml", "is: 3", "is: 4")
    times = {}
    for path in generated_toy.generated():
        os.utime(generated_toy.root / path, (1, 1))
        times[path] = 1.0
    generated_toy.run("generate")
    touched = {path for path in times if (generated_toy.root / path).stat().st_mtime != times[path]}
    assert touched == {"generated/MANIFEST", "generated/docs/2001-01-01.md", "generated/docs/matrix.md", ADAPTER}


def test_what_is_no_longer_generated_is_removed_with_its_folder(generated_toy: Toy) -> None:
    stale = generated_toy.root / "generated/mcp_revisions/v1999_09_09/adapter.py"
    (stale.parent / "__pycache__").mkdir(parents=True)
    (stale.parent / "__pycache__/adapter.cpython-311.pyc").write_bytes(b"")
    stale.write_text("# old\n", "utf-8")
    outside = generated_toy.root / "notes.txt"
    outside.write_text("mine", "utf-8")
    result = generated_toy.run("generate")
    assert result.stdout.splitlines()[0] == "removed generated/mcp_revisions/v1999_09_09/adapter.py"
    assert not stale.parent.exists()
    assert outside.read_text("utf-8") == "mine"


def test_a_link_is_replaced_and_not_followed(generated_toy: Toy) -> None:
    outside = generated_toy.root / "notes.txt"
    outside.write_text("mine", "utf-8")
    (generated_toy.root / ADAPTER).unlink()
    (generated_toy.root / ADAPTER).symlink_to(outside)
    assert generated_toy.run("generate").exit_code == 0
    assert outside.read_text("utf-8") == "mine"
    assert not (generated_toy.root / ADAPTER).is_symlink()


@pytest.mark.parametrize("path", ["specs/revisions.yaml", "generated/../specs/revisions.yaml", "/tmp/anything"])
def test_nothing_is_written_outside_of_generated(generated_toy: Toy, path: str) -> None:
    with pytest.raises(SpecificationError, match="is not below generated/"):
        generated.write(generated_toy.root, {path: "text"})


def test_nothing_is_rendered_where_manifest_matches(generated_toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "render", None)
    result = generated_toy.run("generate")
    assert result.stdout == f"unchanged {len(generated_toy.generated())}\n"


@pytest.mark.parametrize(
    "path", ["specs/variance/letters.yaml", "specs/schemas/2001-01-01.json", "templates/adapter.py.jinja", ADAPTER]
)
def test_manifest_matches_no_other_input_or_output(generated_toy: Toy, path: str) -> None:
    assert is_current(generated_toy.root)
    with (generated_toy.root / path).open("a", encoding="utf-8") as stream:
        stream.write("\nmore: text\n")
    assert not is_current(generated_toy.root)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("specs/variance/letters.yaml", "# A value, a flag, a table and a choice.", "# All kinds.\n\n"),
        ("specs/pages/2001-01-01.txt", "# The pages of 2001-01-01.", "#"),
        ("templates/package.py.jinja", "{#", "{# More."),
    ],
)
def test_a_comment_changes_nothing_in_manifest(generated_toy: Toy, path: str, old: str, new: str) -> None:
    before = generated_toy.manifest()
    generated_toy.replace(path, old, new)
    assert is_current(generated_toy.root)
    assert read_inputs(generated_toy.root).files == before["inputs"]


def test_a_comment_in_the_generator_does_not_count_and_a_text_with_its_mark_does() -> None:
    one, other = b"x = 1  # one\n# two\ny = '# three'\n", b"x = 1\n#\ny = '# three'\n"
    assert meaning(".py", one) == meaning(".py", other)
    assert meaning(".py", one) != meaning(".py", one.replace(b"three", b"four"))
    # What is no Python counts as it is.
    assert meaning(".py", b"x = ( # one") == b"x = ( # one"


def test_a_changed_module_of_the_generator_is_another_generator(
    generated_toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = pathlib.Path(render.__file__).parents[1]
    rendering = {
        f"generator/revgen/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.suffix in (".py", ".jinja")
        and path.relative_to(package).parts[0] not in ("commands", "main.py", "__main__.py")
    }
    counted = generated_toy.manifest()["generator"]
    assert counted.keys() == rendering
    assert is_current(generated_toy.root)
    read = pathlib.Path.read_bytes
    for changed in (pathlib.Path(render.__file__), package / "documents/matrix.md.jinja"):
        monkeypatch.setattr(
            pathlib.Path, "read_bytes", lambda path, changed=changed: read(path) + b"more" * (path == changed)
        )
        assert not is_current(generated_toy.root), changed
        monkeypatch.undo()


def test_manifest_has_a_line_for_each_file(generated_toy: Toy) -> None:
    lines = (generated_toy.root / "generated/MANIFEST").read_text("utf-8").splitlines()
    manifest = generated_toy.manifest()
    for section in ("generator", "inputs", "outputs", "tools"):
        for path in manifest[section]:
            assert len([line for line in lines if line.startswith(f'  "{path}": ')]) == 1


@pytest.mark.parametrize("path", ["specs/variance/new.yaml", "templates/concerns/new.py.jinja", "generated/new.txt"])
def test_manifest_matches_no_further_file(generated_toy: Toy, path: str) -> None:
    (generated_toy.root / path).write_text("", "utf-8")
    assert not is_current(generated_toy.root)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"outputs": 1}', '{"outputs": {"a": 1}}'])
def test_a_manifest_that_cannot_be_read_matches_nothing(generated_toy: Toy, text: str) -> None:
    (generated_toy.root / "generated/MANIFEST").write_text(text, "utf-8")
    assert not is_current(generated_toy.root)


def test_an_edited_output_is_written_again(generated_toy: Toy) -> None:
    expected = generated_toy.generated()
    with (generated_toy.root / ADAPTER).open("a", encoding="utf-8") as stream:
        stream.write("# mine\n")
    result = generated_toy.run("generate")
    assert result.stdout.splitlines() == [f"changed {ADAPTER}", f"unchanged {len(expected) - 1}"]
    assert generated_toy.generated() == expected


def test_check_finds_drift_that_a_forged_manifest_hides(generated_toy: Toy) -> None:
    generated_toy.replace(ADAPTER, "= 3", "= 5")
    manifest = generated_toy.manifest()
    content = (generated_toy.root / ADAPTER).read_bytes()
    manifest["outputs"][ADAPTER]["digest"] = hashlib.sha256(content).hexdigest()
    text = json.dumps(manifest)
    (generated_toy.root / "generated/MANIFEST").write_text(text, "utf-8")
    # The forgery is good: the fast way believes it.
    assert generated_toy.run("generate").stdout.startswith("unchanged")
    result = generated_toy.run("check")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert f"--- a/{ADAPTER}" in lines
    assert "-    stamp: ClassVar[int | None] = 5" in lines
    assert "+    stamp: ClassVar[int | None] = 3" in lines
    assert "2 files are not what the inputs say; run: revgen generate" in result.stderr


def test_check_finds_missing_and_foreign_files_and_writes_nothing(generated_toy: Toy) -> None:
    (generated_toy.root / ADAPTER).unlink()
    (generated_toy.root / "generated/extra.txt").write_text("text", "utf-8")
    before = generated_toy.generated()
    result = generated_toy.run("check", "--json")
    assert result.exit_code == 1
    assert set(json.loads(result.stdout)["drift"]) == {ADAPTER, "generated/extra.txt"}
    assert generated_toy.generated() == before


def test_check_is_silent_where_all_is_right(generated_toy: Toy) -> None:
    result = generated_toy.run("check")
    assert (result.exit_code, result.output) == (0, "")

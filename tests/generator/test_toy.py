"""What comes out of the toy, and that nothing but its inputs decides that.

The files under toy/generated/ are what is expected. After a change that is meant to change them, run the tests once with
UPDATE_TOY=1 and review the diff.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from .conftest import TOY, Toy


def test_the_toy_gives_the_committed_files(generated_toy: Toy) -> None:
    got = generated_toy.generated()
    # MANIFEST has the digests of the generator's own modules, so it changes with each of them.
    del got["generated/MANIFEST"]
    if os.environ.get("UPDATE_TOY"):
        shutil.rmtree(TOY / "generated", ignore_errors=True)
        for path, content in got.items():
            (TOY / path).parent.mkdir(parents=True, exist_ok=True)
            (TOY / path).write_bytes(content)
    expected = Toy(TOY).generated()
    assert got.keys() == expected.keys()
    for path in expected:
        assert got[path].decode() == expected[path].decode(), path


def test_a_generated_adapter_does_what_its_answers_say(generated_toy: Toy) -> None:
    path = generated_toy.root / "generated/mcp_revisions/v2002_02_02/adapter.py"
    module_spec = importlib.util.spec_from_file_location("toy_adapter", path)
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    adapter = module.Adapter()
    assert adapter.version == "2002-02-02"
    assert adapter.can_ask is True
    assert adapter.stamp is None
    assert dict(adapter.marks) == {"urgent": "!!"}
    assert adapter.sealed("hello") == "hello (red wax)"


def test_a_move_goes_on_while_the_revision_that_has_its_name_may_come_back(toy: Toy) -> None:
    path = toy.root / "specs/canonical.yaml"
    path.write_text(
        path.read_text("utf-8").replace("{}", "moves: [{name: it became a missive, from: Letter, to: Missive}]"),
        "utf-8",
    )
    revisions = toy.root / "specs/revisions.yaml"
    revisions.write_text(revisions.read_text("utf-8") + 'removed:\n  - "2003-03-03"\n', "utf-8")
    result = toy.run("generate")
    assert result.exit_code == 0, result.output
    assert "class Missive(" in (toy.root / "generated/mcp_revisions/canonical.py").read_text("utf-8")


def test_manifest_names_the_inputs_of_every_output(generated_toy: Toy) -> None:
    manifest = generated_toy.manifest()
    outputs = manifest["outputs"]
    assert {*outputs, "generated/MANIFEST"} == generated_toy.generated().keys()
    used = {pattern for output in outputs.values() for pattern in output["inputs"]}
    for path in manifest["inputs"]:
        assert any(fnmatch.fnmatchcase(path, pattern.replace("**/", "*")) for pattern in used), path
    adapter = outputs["generated/mcp_revisions/v2001_01_01/adapter.py"]
    assert "templates/concerns/letters/sealed.py.jinja" in adapter["inputs"]
    models = outputs["generated/mcp_revisions/v2001_01_01/models.py"]
    assert {"specs/schemas/*.json", "specs/words.yaml"} <= {*models["inputs"]}
    assert "specs/variance/letters.yaml" not in models["inputs"]


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_hash_seed_current_folder_and_place_change_no_byte(
    generated_toy: Toy, seed: str, tmp_path: pathlib.Path
) -> None:
    elsewhere = tmp_path / "another place"
    shutil.copytree(generated_toy.root, elsewhere, ignore=shutil.ignore_patterns("generated"))
    command = [sys.executable, "-m", "revgen", "generate"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, cwd=elsewhere / "specs" / "variance", env=environment, check=True, capture_output=True)
    assert Toy(elsewhere).generated() == generated_toy.generated()


def test_another_answer_changes_its_own_lines_of_its_own_adapter(generated_toy: Toy) -> None:
    before = generated_toy.generated()
    generated_toy.replace("specs/variance/letters.yaml", "is: 3", "is: 4")
    result = generated_toy.run("generate")
    assert result.stdout.splitlines() == [
        "changed generated/MANIFEST",
        "changed generated/docs/2001-01-01.md",
        "changed generated/docs/matrix.md",
        "changed generated/mcp_revisions/v2001_01_01/adapter.py",
        f"unchanged {len(before) - 4}",
    ]
    path = "generated/mcp_revisions/v2001_01_01/adapter.py"
    expected = before[path].decode().replace("stamp: ClassVar[int | None] = 3", "stamp: ClassVar[int | None] = 4")
    assert generated_toy.generated()[path].decode() == expected

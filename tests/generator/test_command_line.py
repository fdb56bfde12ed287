"""How `revgen` is called, what it says, and with which code it ends."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import click.testing
import pytest
from revgen.main import COMMANDS, revgen

from .conftest import Toy

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"yaml", "jinja2", "black", "datamodel_code_generator"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
sys.argv = ["revgen", *sys.argv[1:]]
from revgen.main import main
main()
"""


@pytest.mark.parametrize("arguments", [[], ["lint"], ["--help"], ["generate", "--json"]])
def test_without_the_extra_it_says_what_to_install(arguments: list[str]) -> None:
    result = subprocess.run([sys.executable, "-c", BLOCKED, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == 'revgen needs the extra "generator": pip install "mcp-anyrev[generator]"\n'


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_and_the_common_options(command: str) -> None:
    result = click.testing.CliRunner().invoke(revgen, [command, "--help"])
    assert result.exit_code == 0
    assert f"  revgen {command}" in result.stdout.split("Examples:")[1]
    assert "--root" in result.stdout and "--json" in result.stdout


def test_help_lists_every_command() -> None:
    text = click.testing.CliRunner().invoke(revgen, ["--help"]).stdout
    assert all(f"  {command} " in text for command in COMMANDS)


def test_the_root_is_the_nearest_one_upwards(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy.root / "templates" / "concerns")
    result = click.testing.CliRunner().invoke(revgen, ["lint"])
    assert (result.exit_code, result.output) == (0, "")


def test_no_root_is_wrong_usage(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = click.testing.CliRunner().invoke(revgen, ["lint"])
    assert result.exit_code == 2
    assert "no folder from here upwards has specs/revisions.yaml; name one with --root" in result.stderr
    result = click.testing.CliRunner().invoke(revgen, ["lint", "--root", str(tmp_path)])
    assert result.exit_code == 2
    assert f"there is no specs/revisions.yaml in {tmp_path}" in result.stderr


@pytest.mark.parametrize("arguments", [["nonsense"], ["lint", "--nonsense"], ["matrix", "--format", "nonsense"]])
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert click.testing.CliRunner().invoke(revgen, arguments).exit_code == 2


def test_generate_gives_its_changes_as_json(toy: Toy) -> None:
    first = json.loads(toy.run("generate", "--json").stdout)
    assert first["changed"] == first["removed"] == first["unchanged"] == []
    assert first["created"] == sorted(toy.generated())
    second = json.loads(toy.run("generate", "--json").stdout)
    assert second["created"] == second["changed"] == second["removed"] == []
    assert second["unchanged"] == first["created"]


def test_matrix_for_the_terminal_marks_what_changed(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    result = toy.run("matrix", "--area", "letters")
    assert result.stdout.splitlines() == [
        "Letters",
        "         2001-01-01                                2002-02-02",
        "can_ask  no                                        * yes",
        "stamp    3                                         * none",
        "marks    urgent: !                                 * urgent: !!",
        "         secret: ?                                 - secret: ?",
        "sealed   open                                      * closed",
        "         wax: none                                 * wax: red",
    ]


def test_matrix_in_markdown_is_the_body_of_the_generated_page(generated_toy: Toy) -> None:
    result = generated_toy.run("matrix", "--format", "markdown")
    page = generated_toy.generated()["generated/docs/matrix.md"].decode()
    assert page.endswith(result.stdout)


def test_matrix_as_json_has_the_sources(toy: Toy) -> None:
    data = json.loads(toy.run("matrix", "--json").stdout)
    assert data["letters"]["stamp"]["answers"]["2002-02-02"] == {
        "is": ["none"],
        "changed": True,
        "citations": ["policy: project: No page names a price."],
    }


def test_matrix_refuses_an_unknown_area(toy: Toy) -> None:
    result = toy.run("matrix", "--area", "numbers")
    assert result.exit_code == 2
    assert "'numbers' is not an area; areas: letters, stdio" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_color", [False, True])
def test_colours_are_for_terminals_and_not_with_no_color(toy: Toy, no_color: bool) -> None:
    import pty

    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    if no_color:
        environment["NO_COLOR"] = "1"
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "revgen", "matrix", "--area", "stdio", "--root", str(toy.root)]
    subprocess.run(command, env=environment, stdout=follower, stderr=subprocess.DEVNULL, check=True)
    os.close(follower)
    text = os.read(leader, 10_000)
    os.close(leader)
    assert (b"\x1b[" in text) is not no_color


PUBLISHED = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {"Card": {"description": "A card.", "type": "object", "properties": {"to": {"type": "string"}}}},
}


def test_import_takes_a_published_schema_into_a_new_root(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(PUBLISHED), "utf-8")
    root = tmp_path / "root"
    root.mkdir()
    arguments = ["import", "3003-03-03", str(file), "--root", str(root)]
    result = click.testing.CliRunner().invoke(revgen, [*arguments, "--check"])
    assert result.exit_code == 0
    assert "would write specs/schemas/3003-03-03.json" in result.stdout
    assert not list(root.iterdir())
    result = click.testing.CliRunner().invoke(revgen, arguments)
    assert result.exit_code == 0
    assert "wrote specs/schemas/3003-03-03.json" in result.stdout
    schema = json.loads((root / "specs/schemas/3003-03-03.json").read_bytes())
    assert schema["$defs"]["Card"] == {"type": "object", "properties": {"to": {"type": "string"}}}
    assert "everything is there already" in click.testing.CliRunner().invoke(revgen, arguments).stdout


def test_import_refuses_what_is_no_schema_and_writes_nothing(toy: Toy) -> None:
    file = toy.root / "schema.json"
    file.write_text("{", "utf-8")
    before = (toy.root / "specs/revisions.yaml").read_bytes()
    result = toy.run("import", "3003-03-03", str(file))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"{file}:1:2: not JSON: ")
    assert (toy.root / "specs/revisions.yaml").read_bytes() == before

"""Whatever goes wrong is one line, and every file is as it was."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import revgen.specification.inputs
from revgen.writing import files

from .conftest import Toy

NEW = "2003-03-03"
LETTERS = "specs/variance/letters.yaml"


@pytest.fixture
def schema(toy: Toy, tmp_path: pathlib.Path) -> str:
    file = tmp_path / "schema.json"
    file.write_bytes((toy.root / "specs/schemas/2002-02-02.json").read_bytes())
    return str(file)


def everything(toy: Toy) -> dict[str, bytes]:
    """All files around the root as well, since a name may lead out of it."""
    top = toy.root.parent
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


# --- Names ---


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "..",
        "x/y",
        "2026-07-28+acme",
        "2003-03-03 ",
        "révision",
        "a b",
        "",
        "-a",
        "a--b",
        "a" * 65,
        "a\nb",
        "a\\b",
        "con",
        "NUL",
        "Aux.2027",
        "lpt9.draft-1",
    ],
)
@pytest.mark.parametrize("command", ["new", "import"])
def test_a_name_is_judged_before_anything_is_written(toy: Toy, schema: str, command: str, name: str) -> None:
    before = everything(toy)
    arguments = {
        "new": ["--schema", schema, "--like", "2002-02-02", "--after", "2002-02-02", "--", name],
        "import": ["--", name, schema],
    }
    result = toy.run(command, *arguments[command])
    assert result.exit_code == 1, result.output
    assert "is not a revision; allowed: letters and digits of ASCII, joined by '-', '.' or '_'" in result.stderr
    assert everything(toy) == before


def test_two_names_of_one_package_are_refused_before_anything_is_written(toy: Toy, schema: str) -> None:
    before = everything(toy)
    result = toy.run("new", "2002.02.02", "--schema", schema, "--like", "2002-02-02", "--after", "2002-02-02")
    assert result.exit_code == 1
    assert "revision 2002.02.02 and 2002-02-02 would both be the package 'v2002_02_02'" in result.stderr
    assert everything(toy) == before


# --- Inputs ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n  b: *a\n", ":2:6: not YAML: '*a' is an alias; allowed: what it stands for, written out"),
        ("a: &a\n  b: *a\n", ":1:4: not YAML: '&a' is an anchor, and no alias is read; allowed: what it stands before"),
        ("a: &a [x, x]\nb: [*a, *a]\n", ":1:4: not YAML: '&a' is an anchor"),
        ("- &a x\n", ":1:3: not YAML: '&a' is an anchor"),
        ("[" * 2_000, ":1:65: not YAML: this is nested deeper than 64 levels; allowed: fewer"),
        ("a: \x00", ":1:1: not YAML: "),
        ("a: {b", " not YAML: "),
        ("- a\n", ":1:1: the top level is a list; allowed: a mapping"),
        (b"\xff\xfe\x00", ":1:1: cannot be read: UnicodeDecodeError"),
        (
            "!!python/object:os.system [a]",
            ":1:1: not YAML: 'tag:yaml.org,2002:python/object:os.system' is a tag, and nothing reads it",
        ),
    ],
)
@pytest.mark.parametrize("path", [LETTERS, "specs/revisions.yaml", "specs/canonical.yaml"])
def test_no_yaml_gives_a_traceback(toy: Toy, schema: str, path: str, text: str | bytes, message: str) -> None:
    (toy.root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = everything(toy)
    for arguments in (
        ["lint"],
        ["new", NEW, "--schema", schema, "--like", "2002-02-02"],
        ["remove", "2001-01-01"],
        ["accept"],
    ):
        result = toy.run(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        if arguments == ["lint"]:
            assert result.exit_code == 1
            assert path in result.output
            assert message in result.output
        if result.exit_code in (1, 2):
            assert everything(toy) == before
        elif result.exit_code == 3:
            assert everything(toy) != before
            assert result.stderr.count("written; ") == 1


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "[]",
        "null",
        "7",
        "{}",
        "[" * 5_000,
        '{"$defs": 1}',
        '{"$defs": {"A": 1}}',
        '{"$defs": {"A": true}}',
        '{"$defs": {"A": {"$ref": "#/$defs/B"}}}',
        '{"$defs": {"A": {"$ref": "#/$defs/A"}}}',
        '{"$defs": {"A": {"type": 7}}}',
        '{"$defs": {"A": {"properties": {"$ref": {"type": "string"}}}}}',
        '{"$defs": {"A": {"properties": []}}}',
        '{"$defs": {"A": {"required": "a"}}}',
        '{"$defs": {"A": {"type": "object"}}, "$schema": "https://json-schema.org/draft/2020-12/schema"}',
    ],
    ids=lambda text: text[:40],
)
@pytest.mark.parametrize("command", ["new", "import"])
def test_no_schema_gives_a_traceback(toy: Toy, tmp_path: pathlib.Path, command: str, schema: str) -> None:
    file = tmp_path / "schema.json"
    file.write_text(schema, "utf-8")
    before = everything(toy)
    like = ["--schema", str(file), "--like", "2002-02-02"] if command == "new" else [str(file)]
    result = toy.run(command, NEW, *like)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if result.exit_code and "wrote" not in result.stdout:
        assert everything(toy) == before


@pytest.mark.parametrize("text", [b"\xff", b"a: *b", b"[", b"", b"answers: 7"])
def test_no_file_of_answers_gives_a_traceback(toy: Toy, schema: str, tmp_path: pathlib.Path, text: bytes) -> None:
    file = tmp_path / "answers.yaml"
    file.write_bytes(text)
    before = everything(toy)
    result = toy.run("new", NEW, "--schema", schema, "--answers", str(file))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith(str(file))
    assert everything(toy) == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("specs/variance/more.yml", "is not read; allowed here: an area a file, more.yaml"),
        ("specs/variance/notes.txt", "is not read; allowed here: an area a file, notes.yaml"),
        (
            "specs/schemas/2000-01-01.json",
            "is not read; allowed here: the schema of a revision, 2001-01-01.json, 2002-02-02.json",
        ),
        ("specs/canonical.yml", "is not read; allowed here: canonical.yaml"),
        (
            "specs/letters.yaml",
            "is not read; allowed here: README.md, canonical.yaml, corrections.yaml, keywords.yaml, revisions.yaml, selection.yaml, words.yaml",
        ),
        (
            "specs/variance/post/more.yaml",
            "is not read; allowed here: files of the folders pages, schemas, variance themselves",
        ),
        (
            "templates/other.py.jinja",
            "is not read; allowed here: skeletons, adapter.py.jinja, messages.py.jinja, package.py.jinja, projection.py.jinja, "
            "protocol.py.jinja, rules.py.jinja, selection.py.jinja",
        ),
        (
            "templates/models/pydantic_v2/RootModel.jinja2",
            "is not read; allowed here: templates of models, models/TypeAliasType.jinja2, models/pydantic_v2/BaseModel.jinja2",
        ),
        (
            "templates/concerns/letters/sealed.py.j2",
            "is not read; allowed here: templates, which end in .jinja or .jinja2",
        ),
        ("specs/variance/letters.yaml~", "is a copy that an editor or an interrupted command left, and is not read"),
        (
            "specs/variance/.letters.yaml.swp",
            "is a copy that an editor or an interrupted command left, and is not read",
        ),
        ("specs/variance/#letters.yaml#", "is a copy that an editor or an interrupted command left, and is not read"),
        ("templates/adapter.py.jinja.orig", "is a copy that an editor or an interrupted command left, and is not read"),
    ],
)
def test_a_file_that_is_not_read_is_said(toy: Toy, path: str, message: str) -> None:
    (toy.root / path).parent.mkdir(exist_ok=True)
    (toy.root / path).write_text("a: b\n", "utf-8")
    result = toy.run("lint", "--json")
    found = [problem for problem in json.loads(result.stdout)["problems"] if problem["path"] == path]
    assert [problem["message"] for problem in found] == [message]
    assert toy.run("generate").exit_code == (0 if "copy" in message else 1)


def test_another_version_of_a_tool_is_one_line(generated_toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(generated_toy)
    version = revgen.specification.inputs.importlib.metadata.version
    other = {"black": "1.2.3"}
    monkeypatch.setattr("importlib.metadata.version", lambda name: other.get(name) or version(name))
    for command in ("generate", "check"):
        result = generated_toy.run(command)
        assert result.exit_code == 1
        assert len(result.output.splitlines()) == 1
        assert result.output.startswith("black is 1.2.3, and every byte of the output depends on ")
    assert everything(generated_toy) == before


# --- Writing ---


def test_a_folder_that_is_a_link_is_said(generated_toy: Toy, tmp_path: pathlib.Path) -> None:
    folder, elsewhere = generated_toy.root / "generated", tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    before = everything(generated_toy)
    generated_toy.replace(LETTERS, "is: 3", "is: 4")
    result = generated_toy.run("generate")
    assert result.exit_code == 1
    assert result.stderr.startswith("generated:1:1: ")
    assert f"generated/ is a link to {elsewhere}; allowed: a folder of the root itself" in result.stderr
    generated_toy.replace(LETTERS, "is: 4", "is: 3")
    assert everything(generated_toy) == before


@pytest.mark.parametrize("command", ["generate", "new", "remove"])
def test_a_command_that_cannot_write_leaves_every_byte(
    generated_toy: Toy, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file = tmp_path / "schema.json"
    file.write_bytes((generated_toy.root / "specs/schemas/2002-02-02.json").read_bytes())
    if command == "generate":
        generated_toy.replace(LETTERS, "is: 3", "is: 4")
    before = everything(generated_toy)
    arguments = {
        "generate": ["generate"],
        "new": ["new", NEW, "--schema", str(file), "--like", "2002-02-02"],
        "remove": ["remove", "2001-01-01", "--keep", str(tmp_path / "kept.yaml")],
    }
    replace, done = os.replace, []

    def fail_at_the_third(source: str, target: str) -> None:
        done.append(target)
        if len(done) == 3:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_the_third)
    result = generated_toy.run(*arguments[command])
    assert len(done) == 3
    assert result.exit_code == 1
    assert result.stderr == f"{done[-1]}: No space left on device\n"
    assert everything(generated_toy) == before


def test_a_folder_that_nobody_may_write_is_said(generated_toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    generated_toy.replace(LETTERS, "is: 3", "is: 4")
    before = everything(generated_toy)

    def refuse(*, dir: pathlib.Path, prefix: str) -> tuple[int, str]:
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(files.tempfile, "mkstemp", refuse)
    result = generated_toy.run("generate")
    assert result.exit_code == 1
    assert result.stderr.endswith(": Permission denied\n")
    assert everything(generated_toy) == before


@pytest.mark.skipif(not pathlib.Path("/proc/self/stat").exists(), reason="children are found in /proc")
def test_a_killed_command_leaves_no_process_and_whole_files(toy: Toy) -> None:
    before = everything(toy)
    command = [sys.executable, "-m", "revgen", "generate", "--root", str(toy.root)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 30
        while not (workers := children(process.pid)) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert workers
    until = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert everything(toy) == before
    assert toy.run("generate").exit_code == 0


def children(process: int) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == process:
                found.append(int(entry.name))
    return found


def alive(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

"""The console of docs/add-a-revision.md, run: each command gives what the page says.

A line of `…` stands for any lines. Numbers may be others, since they count what is there.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator

import pytest
import revgen.writing.render
from revgen.models.modules import write_models
from revgen.specification.loading import Specification
from revgen.writing.render import Writer

from .conftest import REPOSITORY, Project, render_quickly
from .test_next_revision import LACKS, LAST, MACRO, NEXT, edit, next_schema

pytestmark = pytest.mark.long

# The page adds an invented revision behind the newest that there was when it was written.
PAGE = (
    (REPOSITORY / "docs/add-a-revision.md").read_text("utf-8").replace("2027-03-01", NEXT).replace("2026-07-28", LAST)
)
ANY = "…"


def commands() -> Iterator[tuple[list[str], list[str]]]:
    """The commands that the page shows something of, each with what it shows."""
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = command.rstrip("\n").split("\n")
            if shown:
                yield line.split(), shown


def alike(line: str) -> str:
    return re.sub(r"\d+", "0", line.rstrip())


def differs(shown: list[str], found: list[str]) -> str:
    """The first line that is not there in its turn; empty where all are."""
    rest = iter(map(alike, found))
    for number, line in enumerate(shown):
        if line == ANY:
            continue
        if number and shown[number - 1] == ANY:
            if alike(line) not in rest:
                return line
        elif next(rest, None) != alike(line):
            return line
    return "" if shown[-1] == ANY else next(rest, "")


@pytest.mark.skipif(bool(LACKS), reason=f"the newest revision has no {', '.join(LACKS)} to change")
def test_every_command_gives_what_the_page_says(
    project: Project, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add_vectors()
    monkeypatch.chdir(tmp_path)
    pathlib.Path("schema.json").write_text(json.dumps(next_schema()), "utf-8")
    before_generate = iter((answered, declared, written))

    def render(specification: Specification, progress: object = None) -> dict[str, str]:
        # Laying out the code of all revisions takes long, and is tested elsewhere.
        following = next(one for one in specification.revisions if one.version == NEXT)
        return render_quickly(specification, Writer(lambda given: write_models(given, following)))

    monkeypatch.setattr(revgen.writing.render, "render", render)
    run = 0
    for (program, *arguments), shown in commands():
        assert program == "revgen"
        if arguments == ["generate"]:
            next(before_generate)(project)
        if arguments[0] == "vectors":
            template = project.root / "templates/concerns/envelope/reserved_meta_key.py.jinja"
            template.write_text(template.read_text("utf-8") + MACRO, "utf-8")
        result = project.run(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        line = differs(shown, result.output.splitlines())
        assert not line, f"revgen {' '.join(arguments)}: '{line}' is not in its turn in\n{result.output}"
        run += 1
    assert run > 7
    assert next(before_generate, None) is None


def answered(project: Project) -> None:
    """The answers that differ, and the move."""
    file = project.root / "specs/variance/envelope.yaml"
    head, concern, rest = file.read_text("utf-8").partition("\n  reserved_meta_key:\n")
    before, entry, after = rest.partition(f'"{NEXT}":')
    file.write_text(
        head + concern + before + entry + re.sub(r"choice: \w+", "choice: with_prefix", after, count=1), "utf-8"
    )
    move = "  - name: a prompt is called an offer\n    from: Prompt\n    to: PromptOffer\n"
    edit(project, "specs/canonical.yaml", "  - name: enumerations", move)


def declared(project: Project) -> None:
    """The new choice."""
    edit(
        project,
        "specs/variance/envelope.yaml",
        "      named_second: One",
        "      with_prefix: Any that has a prefix.\n",
    )


def written(project: Project) -> None:
    """Nothing: its macro is there since the vectors, which are scaffolded from inputs without a fault."""
    assert MACRO in (project.root / "templates/concerns/envelope/reserved_meta_key.py.jinja").read_text("utf-8")


def test_a_page_that_says_something_else_is_found() -> None:
    assert differs(["a 1", ANY, "c"], ["a 2", "b", "c"]) == ""
    assert differs(["a", "c"], ["a", "b", "c"]) == "c"
    assert differs(["a", ANY, "d"], ["a", "b"]) == "d"
    assert differs(["a"], ["a", "b"]) == "b"

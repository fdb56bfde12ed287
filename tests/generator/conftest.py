"""The toy: a specification of two invented revisions that every test may break in a copy of its own."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
from typing import Any

import click.testing
import pytest
from revgen.main import revgen
from revgen.models.canonical import write_canonical
from revgen.specification.loading import load_specification

REPOSITORY = pathlib.Path(__file__).parents[2]
TOY = pathlib.Path(__file__).parent / "toy"


@dataclasses.dataclass(frozen=True)
class Toy:
    """A copy of the toy."""

    root: pathlib.Path

    def run(self, *arguments: str) -> click.testing.Result:
        """Run `revgen` on it."""
        command, *rest = arguments
        return click.testing.CliRunner().invoke(revgen, [command, "--root", str(self.root), *rest])

    def problems(self) -> list[str]:
        """What `revgen lint` complains about, a line each."""
        return self.run("lint").stdout.splitlines()

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the one place where a file has some text."""
        file = self.root / path
        text = file.read_text("utf-8")
        assert text.count(old) == 1, f"{path} has {text.count(old)} places with: {old}"
        file.write_text(text.replace(old, new), "utf-8")

    def generated(self) -> dict[str, bytes]:
        """Every file under generated/, by path."""
        folder = self.root / "generated"
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

    def manifest(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.root / "generated/MANIFEST").read_bytes())
        return content


@pytest.fixture
def toy(tmp_path: pathlib.Path) -> Toy:
    """The toy's inputs, with the project's own templates for models, and nothing generated."""
    return _copy(tmp_path / "toy")


@pytest.fixture(scope="session", autouse=True)
def _imported_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have what writes models import here, once, what it imports when it is first used; each process forked from here would do so again."""
    write_canonical(load_specification(_copy(tmp_path_factory.mktemp("imported") / "toy").root))


@pytest.fixture(scope="session")
def _generated_once(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    toy = _copy(tmp_path_factory.mktemp("generated") / "toy")
    result = toy.run("generate")
    assert result.exit_code == 0, result.output
    return toy


@pytest.fixture
def generated_toy(_generated_once: Toy, tmp_path: pathlib.Path) -> Toy:
    """The toy, generated."""
    shutil.copytree(_generated_once.root, tmp_path / "toy")
    return Toy(tmp_path / "toy")


def _copy(root: pathlib.Path) -> Toy:
    shutil.copytree(TOY, root, ignore=shutil.ignore_patterns("generated"))
    shutil.copytree(REPOSITORY / "templates/models", root / "templates/models")
    return Toy(root)

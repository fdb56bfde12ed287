"""Copies of the project's own specs, to add revisions to and to take them out of."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import click.testing
import pytest
from revgen.adapters import adapter, package, protocol
from revgen.adapters.adapter import write_adapter
from revgen.adapters.package import write_package, write_selection
from revgen.adapters.protocol import write_protocol
from revgen.editing import proof
from revgen.main import revgen
from revgen.rendering.output import Output
from revgen.specification.loading import Specification, load_specification
from revgen.writing.render import Writer, render

REPOSITORY = pathlib.Path(__file__).parents[2]
VERSIONS = re.findall(r'^  "(.+)":$', (REPOSITORY / "specs/revisions.yaml").read_text("utf-8"), re.MULTILINE)

# Models are a function of one schema each, so all but one of the tests do without them.
QUICK = (
    Writer(write_package),
    Writer(write_selection),
    Writer(write_protocol),
    Writer(write_adapter, per_revision=True),
)


@dataclasses.dataclass(frozen=True)
class Project:
    """A copy of specs/ and templates/."""

    root: pathlib.Path

    def run(self, *arguments: str) -> click.testing.Result:
        """Run `revgen` on it."""
        command, *rest = arguments
        return click.testing.CliRunner().invoke(revgen, [command, "--root", str(self.root), *rest])

    def files(self, folder: str) -> dict[str, bytes]:
        """Every file of a folder, by path."""
        found = (path for path in (self.root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def published(self, version: str) -> pathlib.Path:
        """A file to import a revision from.

        What a normal form is made of is itself a schema; its digest is put where that of the published file stood.
        """
        schema = (self.root / f"specs/schemas/{version}.json").read_bytes()
        revisions = self.root / "specs/revisions.yaml"
        pattern = rf'(  "{version}":\n    source: .*\n    sha256: )[0-9a-f]+\n'
        text, number = re.subn(
            pattern, rf"\g<1>{hashlib.sha256(schema).hexdigest()}\n", revisions.read_text("utf-8"), flags=re.MULTILINE
        )
        assert number == 1
        revisions.write_text(text, "utf-8")
        file = self.root / f"published-{version}.json"
        file.write_bytes(schema)
        return file

    def add_vectors(self) -> None:
        """Copy the vectors and the tests that run them."""
        for folder in ("adapters", "vectors"):
            shutil.copytree(
                REPOSITORY / "tests" / folder,
                self.root / "tests" / folder,
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    def pytest(self, *arguments: str, root: pathlib.Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
        """Run tests on what was generated in the copy: those of the project, or those that were copied as well."""
        environment = {**os.environ, "PYTHONPATH": str(self.root / "generated")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
        return subprocess.run(
            command,
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture(autouse=True)
def _briefly_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try an imported schema on few instances: that much is what `tests/schema_import` is for, on these same schemas."""
    monkeypatch.setattr(proof, "_MADE", 4)
    monkeypatch.setattr(proof, "_PLACES", 8)


@pytest.fixture(autouse=True)
def _read_when_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands one after another read inputs that are the same only once: that was half of what these tests took."""
    found: dict[tuple[pathlib.Path, bytes], Specification] = {}

    def load(root: pathlib.Path) -> Specification:
        files = sorted(
            path for folder in ("specs", "templates") for path in (root / folder).rglob("*") if path.is_file()
        )
        digest = hashlib.sha256()
        for path in files:
            digest.update(b"%b\0%b\0" % (str(path).encode(), path.read_bytes()))
        key = (root, digest.digest())
        if key not in found:
            found[key] = load_specification(root)
        return found[key]

    for module in list(sys.modules.values()):
        if module.__name__.startswith("revgen.") and getattr(module, "load_specification", None) is load_specification:
            monkeypatch.setattr(module, "load_specification", load)


@pytest.fixture
def project(tmp_path: pathlib.Path) -> Project:
    """A copy of the inputs."""
    for folder in ("specs", "templates"):
        shutil.copytree(REPOSITORY / folder, tmp_path / "project" / folder)
    return Project(tmp_path / "project")


@pytest.fixture(scope="session")
def specification() -> Specification:
    """The project's own specs."""
    return load_specification(REPOSITORY)


@pytest.fixture(scope="session")
def adapters(specification: Specification) -> dict[str, str]:
    """What `render_quickly` gives for them."""
    return render_quickly(specification)


def render_quickly(specification: Specification, *writers: Writer) -> dict[str, str]:
    """What the quick writers give, and some others.

    Python is left as the templates give it: laying it out is most of the work, and changes no meaning.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (adapter, package, protocol):
            patch.setattr(module, "python_output", Output)
        return render(specification, (*QUICK, *writers))


def is_part_of(part: list[str], whole: list[str]) -> bool:
    """Whether lines are those of another text with some left out."""
    rest = iter(whole)
    return all(line in rest for line in part)

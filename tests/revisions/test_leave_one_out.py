"""Any of the revisions can be taken out and put back, by data alone.

What that changes for the others is said here exactly. Their answers do not change, nor do their models, but for since and until when there
is something. What is left out on the way to them
follows from comparing schemas with the vocabulary of all, so it may say less once a revision is missing.
"""

from __future__ import annotations

import ast
import pathlib
import re
import shutil

import pytest
from revgen.models import text
from revgen.rendering import formatting
from revgen.specification.loading import Specification, load_specification

from .conftest import REPOSITORY, VERSIONS, Project, is_part_of, render_quickly
from .test_next_revision import edit

pytestmark = pytest.mark.long

SECTION = "    # --- What is sent of each type, from the schemas ---"
# One with others on both sides.
FULL = VERSIONS[-2]


def own_text(adapter: str) -> str:
    """What an adapter says of its own revision: its answers and its messages."""
    _, marker, rest = adapter.partition("class Adapter:")
    body, section, _ = rest.partition(SECTION)
    assert marker and section
    return body


@pytest.mark.parametrize(
    "version",
    [pytest.param(one, marks=() if one == VERSIONS[0] else pytest.mark.thorough) for one in VERSIONS],
)
def test_a_revision_is_taken_out_and_put_back(
    project: Project, specification: Specification, adapters: dict[str, str], version: str, tmp_path: pathlib.Path
) -> None:
    published = project.published(version)
    # What an entry says without need, and what was written beside it, comes back as well.
    entries = "specs/revisions.yaml"
    edit(project, entries, f'  "{version}":\n', f"  # Of {version}.\n")
    source = f"    pages: https://modelcontextprotocol.io/specification/{version}\n"
    edit(project, entries, source, "    draft: no # as published\n")
    kept = tmp_path / "answers.yaml"
    inputs = project.files("specs") | project.files("templates")

    result = project.run("remove", version, "--keep", str(kept))
    assert result.exit_code == 0, result.output
    after_removal = project.files("specs") | project.files("templates")
    assert {path for path in inputs if after_removal.get(path) != inputs[path]} == {
        f"specs/schemas/{version}.json",
        *({f"specs/pages/{version}.txt"} & inputs.keys()),
        "specs/corrections.yaml",
        "specs/revisions.yaml",
        *(f"specs/variance/{area.name}.yaml" for area in specification.areas),
    }
    revisions = after_removal["specs/revisions.yaml"].decode()
    head, _, rest = revisions.partition(f'removed:\n  - "{version}"\n')
    assert not rest
    after_removal["specs/revisions.yaml"] = head.encode()
    for path, content in after_removal.items():
        assert is_part_of(content.decode().splitlines(), inputs[path].decode().splitlines()), path

    # Faults would have raised: what the other revisions mean is as clear as before.
    others = load_specification(project.root)
    assert others.schemas == {other: schema for other, schema in specification.schemas.items() if other != version}
    before, after = adapters, render_quickly(others)
    gone = {path for path in before if path not in after}
    assert gone == {f"generated/mcp_revisions/{module(version)}/adapter.py"}
    assert after["generated/mcp_revisions/protocol.py"] == before["generated/mcp_revisions/protocol.py"]
    for path in after:
        if path.endswith("/adapter.py"):
            assert own_text(after[path]) == own_text(before[path]), path
    for path in ("generated/mcp_revisions/__init__.py", "generated/mcp_revisions/selection.py"):
        assert without(version, after[path]) == without(version, before[path])

    result = project.run("new", version, "--schema", str(published), "--answers", str(kept))
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"(\d+ remarks?; run: revgen lint --remarks\n)?", result.stderr)
    assert project.files("specs") | project.files("templates") == inputs


def test_everything_generated_without_it_is_right_and_its_inputs_come_back(
    project: Project, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a command runs changes no byte.
    monkeypatch.chdir(tmp_path)
    # Laying the code out is most of the work, and what is compared below is what it means.
    for module_ in (formatting, text):
        monkeypatch.setattr(module_, "laid_out", str)
    shutil.copytree(REPOSITORY / "generated", project.root / "generated", ignore=shutil.ignore_patterns("__pycache__"))
    generated = project.files("generated")
    published = project.published(FULL)
    inputs = project.files("specs") | project.files("templates")
    kept = tmp_path / "answers.yaml"
    assert project.run("remove", FULL, "--keep", str(kept)).exit_code == 0
    result = project.run("generate")
    assert result.exit_code == 0, result.output
    without_it = project.files("generated")
    removed = {path for path in generated if path not in without_it}
    files = ("__init__.py", "adapter.py", "models.py")
    assert removed == {
        f"generated/docs/{FULL}.md",
        *(f"generated/mcp_revisions/{module(FULL)}/{name}" for name in files),
    }
    for path, content in without_it.items():
        if path.endswith(("/models.py", "/v*/__init__.py")):
            assert code(content) == code(generated[path]), path
    tests = project.pytest("tests/adapters/test_vectors.py", "-k", "sent_exactly or expected_one or gives_what")
    assert tests.returncode == 0, tests.stdout
    assert FULL not in tests.stdout
    assert project.run("new", FULL, "--schema", str(published), "--answers", str(kept)).exit_code == 0
    # What is generated follows from these alone.
    assert project.files("specs") | project.files("templates") == inputs


def code(module: bytes) -> str:
    """What a module says without its docstrings."""
    tree = ast.parse(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [statement for statement in node.body if not isinstance(statement, ast.Expr)]
    return ast.unparse(tree)


def module(version: str) -> str:
    return f"v{version.replace('-', '_')}"


def without(version: str, text: str) -> str:
    """A text without what names a revision, and without what stands between the entries of a list."""
    for name in (f'"{version}"', f'"{module(version)}"'):
        text = text.replace(name, "")
    return re.sub(r"[\s,:]", "", text)

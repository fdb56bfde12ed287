"""Rules of the architecture that can be seen from outside."""

from __future__ import annotations

import ast
import pathlib
import re
import subprocess
import sys

from mcp_revisions import VERSIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]

_REVISION = re.compile(r"20\d\d-\d\d-\d\d|v20\d\d_\d\d")


def files(*patterns: str) -> list[pathlib.Path]:
    found = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    assert found
    return found


def test_no_handwritten_code_and_no_template_names_a_revision() -> None:
    paths = files("runtime/**/*.py", "templates/**/*.jinja*", "generator/**/*.jinja")
    named = {str(path.relative_to(ROOT)): _REVISION.findall(path.read_text("utf-8")) for path in paths}
    assert not {path: found for path, found in named.items() if found}


def test_that_rule_can_fail() -> None:
    assert _REVISION.findall(f"adapter.version == '{VERSIONS[0]}'")


def test_no_status_and_no_error_code_stands_in_the_runtime() -> None:
    # What an adapter answers (`accepted_status`, `error_statuses`, `error_codes`) is the only source of either.
    statuses = (202, 400, 401, 403, 404, 405, 406)
    for path in files("runtime/mcp_anyrev/**/*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        numbers = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int]
        assert not [number for number in numbers if -32768 <= number <= -32000 or number in statuses], path


def test_no_test_takes_names_from_a_module_that_several_folders_have() -> None:
    # Which `conftest` it would be depends on what is collected first.
    for path in files("tests/*/test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not isinstance(node, ast.ImportFrom) or node.level or node.module != "conftest", path


_BLOCKED = """
import importlib.abc, importlib.machinery, sys
allowed = set(sys.stdlib_module_names) | {
    "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection", "mcp_revisions", "mcp_contract",
}
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in allowed and not name.startswith("_sysconfigdata"):
            raise ImportError(f"blocked: {name}")
        return None
sys.meta_path.insert(0, Block())
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _BLOCKED + program], capture_output=True, text=True)


def test_adapters_and_models_need_nothing_but_pydantic() -> None:
    done = run(
        "import mcp_revisions, mcp_revisions.canonical\n"
        "for version in mcp_revisions.VERSIONS:\n"
        "    adapter = mcp_revisions.AdapterSet.default().by_version[version]\n"
        "    adapter.build()\n"
        "    assert adapter.batching({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'})\n"
    )
    assert done.returncode == 0, done.stderr


def test_the_block_can_fail() -> None:
    assert "blocked: aiohttp" in run("import aiohttp").stderr


def test_importing_the_package_imports_no_revision() -> None:
    done = run("import mcp_revisions\nassert not [name for name in sys.modules if name.startswith('mcp_revisions.')]")
    assert done.returncode == 0, done.stderr


def test_an_adapter_imports_no_models() -> None:
    done = run(
        "import mcp_revisions\n"
        "[mcp_revisions.AdapterSet.default().by_version[version] for version in mcp_revisions.VERSIONS]\n"
        "assert not [name for name in sys.modules if name.endswith('.models')]"
    )
    assert done.returncode == 0, done.stderr


def test_contract_and_generated_code_do_not_import_the_runtime() -> None:
    for path in files("runtime/mcp_contract/**/*.py", "generated/mcp_revisions/**/*.py"):
        assert "mcp_anyrev" not in [
            (alias.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ], path

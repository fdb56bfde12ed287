"""The plugin of pytest: with every plugin that runs async tests, with none, and where nobody asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from mcp_revisions import AdapterSet

pytest_plugins = ["pytester"]

VERSIONS = AdapterSet.default().versions
ALL = len(VERSIONS)

CONFTEST = 'pytest_plugins = ["mcp_anyrev.testing.plugin"]\n'
REGISTRY = """
import asyncio
import pytest
from mcp_anyrev import Registry

registry = Registry("shop", "1.0")

@registry.tool
def add(a: int, b: int) -> int:
    return a + b
"""
WITHOUT = """
def test_adds(mcp_client, revision):
    async def main():
        async with mcp_client(registry) as client:
            assert client.revision == revision
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
    asyncio.run(main())
"""
WITH_ASYNCIO = """
@pytest.fixture
async def client(mcp_client):
    async with mcp_client(registry) as client:
        yield client

async def test_adds(client, revision):
    assert client.revision == revision
    assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
"""
WITH_ANYIO = """
pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


def ran(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(REGISTRY + text)
    return pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def test_it_runs_once_for_each_revision_with_no_other_plugin(pytester: pytest.Pytester) -> None:
    result = ran(pytester, WITHOUT, "-v", "-p", "no:asyncio", "-p", "no:anyio")
    result.assert_outcomes(passed=ALL)
    for version in VERSIONS:
        result.stdout.fnmatch_lines([f"*test_adds[[]{version}[]] PASSED*"])


def test_it_works_with_pytest_asyncio(pytester: pytest.Pytester) -> None:
    ran(
        pytester,
        WITH_ASYNCIO,
        "-p",
        "no:anyio",
        "--asyncio-mode=auto",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    ).assert_outcomes(passed=ALL)


def test_it_works_with_the_plugin_of_anyio(pytester: pytest.Pytester) -> None:
    ran(pytester, WITH_ANYIO + WITH_ASYNCIO, "-p", "no:asyncio").assert_outcomes(passed=ALL)


def test_revisions_are_chosen_on_the_command_line_or_in_the_configuration(pytester: pytest.Pytester) -> None:
    first, last = VERSIONS[0], VERSIONS[-1]
    plain = ("-p", "no:asyncio", "-p", "no:anyio")
    ran(pytester, WITHOUT, "--mcp-revision", last, "--mcp-revision", first, *plain).assert_outcomes(passed=2)
    pytester.makeini(f"[pytest]\nmcp_revisions = {last}\n")
    ran(pytester, WITHOUT, *plain).assert_outcomes(passed=1)
    result = ran(pytester, WITHOUT, "--mcp-revision", "banana", *plain)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*banana: no such revision; known: {first}*"])


def test_a_project_may_have_a_fixture_or_a_parameter_of_that_name(pytester: pytest.Pytester) -> None:
    own = f"""
@pytest.fixture
def revision():
    return "{VERSIONS[-1]}"
{WITHOUT}
@pytest.mark.parametrize("revision", ["{VERSIONS[0]}", "{VERSIONS[1]}"])
def test_by_a_parameter(mcp_client, revision):
    test_adds(mcp_client, revision)
"""
    ran(pytester, own, "-p", "no:asyncio", "-p", "no:anyio").assert_outcomes(passed=3)


def test_who_does_not_ask_for_it_does_not_get_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\ndef test_nothing():\n    assert not [one for one in sys.modules if one.startswith('mcp_')]\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=pytester.path, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0, done.stdout

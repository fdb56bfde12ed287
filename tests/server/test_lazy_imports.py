"""What importing the package costs: nothing that is not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("aiohttp", "click", "cryptography", "jsonschema_rs", "uvicorn", "mcp_revisions")
MOST_SECONDS = 0.15


def imported_by(statement: str) -> set[str]:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=20)
    return set(out.stdout.split())


def test_the_package_imports_nothing_until_a_name_is_used() -> None:
    assert not imported_by("import mcp_anyrev") & {*HEAVY, "pydantic"}


@pytest.mark.parametrize("name", ["Registry", "Exchange", "elicit", "Settings", "ToolError", "Head", "Principal"])
def test_declaring_imports_neither_a_server_nor_a_cipher(name: str) -> None:
    assert not imported_by(f"from mcp_anyrev import {name}") & {"aiohttp", "click", "cryptography", "jsonschema_rs"}


def test_the_asgi_application_needs_no_framework() -> None:
    assert not imported_by("from mcp_anyrev import asgi") & {"aiohttp", "click", "uvicorn", "starlette"}


def test_a_client_imports_no_transport_before_it_connects_and_comes_quickly() -> None:
    statement = "from mcp_anyrev import Client"
    assert not imported_by(statement) & {"aiohttp", "click", "cryptography", "jsonschema_rs"}
    script = f"""
import pydantic, time
pydantic.BaseModel, pydantic.TypeAdapter
begun = time.process_time()
{statement}
print(time.process_time() - begun)
"""
    run = [sys.executable, "-c", script]
    seconds = (float(subprocess.run(run, capture_output=True, text=True, check=True).stdout) for _ in range(5))
    assert any(one < MOST_SECONDS for one in seconds)  # of processor time, which a busy machine makes longer, too


def test_every_public_name_is_there_and_nothing_else() -> None:
    import mcp_anyrev

    assert set(mcp_anyrev.__all__) <= set(dir(mcp_anyrev))
    for name in mcp_anyrev.__all__:
        assert getattr(mcp_anyrev, name) is not None
    with pytest.raises(AttributeError, match=r"mcp_anyrev.* nonsense"):
        _ = mcp_anyrev.nonsense

"""The systems that workers share, each as a URL and as the name of its package in `mcp_anyrev.storage`."""

from __future__ import annotations

from pathlib import Path

import pytest
from backends_under_test import Shared


@pytest.fixture(params=["sqlite", "redis", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Shared:
    if request.param == "sqlite":
        return Shared("sqlite", f"sqlite://{tmp_path}/shared.db")
    url = request.getfixturevalue({"redis": "valkey_url", "postgres": "postgres_url"}[request.param])
    return Shared(request.param, url)

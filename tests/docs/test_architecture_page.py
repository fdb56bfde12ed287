"""The page about the architecture names files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACES = (ROOT, ROOT / "runtime", ROOT / "runtime" / "mcp_anyrev", ROOT / "generated")


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"(?:\b[a-z_]+/)+[a-z_]+\.py\b", PAGE))
    assert len(named) > 12
    assert {name for name in named if not any((place / name).is_file() for place in PLACES)} == set()


def test_every_folder_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+)`", PAGE))
    assert len(named) > 8
    inner = (*PLACES, ROOT / "runtime" / "mcp_anyrev" / "server")
    assert {name for name in named if not any((place / name).is_dir() for place in inner)} == set()

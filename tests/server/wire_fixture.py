"""The application of the wire cases, loaded anew for each test, so that what one changes no other sees."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from types import ModuleType

from mcp_anyrev import Registry

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "wire.py"


def load() -> ModuleType:
    """A new copy of the fixture's module."""
    specification = importlib.util.spec_from_file_location("wire_fixture_module", FIXTURE)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # models look their forward references up there
    specification.loader.exec_module(module)
    return module


def wire_registry() -> Registry:
    """Its registry, with the tool that changes the list of tools."""
    module = load()
    module.declare_grow()
    registry: Registry = module.registry
    return registry

"""The project's own specs, read once."""

from __future__ import annotations

from typing import Any

import pytest
from emitted import ROOT
from revgen.canonical.merge import merge
from revgen.canonical.rules import Rules, read_rules
from revgen.reading import located
from revgen.reading.located import Problems
from revgen.schemas.published import load_schemas
from revgen.schemas.revisions import load_revisions

Schemas = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def schemas() -> Schemas:
    """The corrected schema of every revision, oldest first."""
    problems = Problems()
    found = load_schemas(ROOT, load_revisions(ROOT, problems), problems)
    problems.stop_if_any()
    return found


@pytest.fixture(scope="session")
def rules() -> Rules:
    problems = Problems()
    top = located.load(ROOT, "specs/canonical.yaml", problems)
    assert top is not None
    found = read_rules(top, problems)
    problems.stop_if_any()
    return found


@pytest.fixture(scope="session")
def canonical(schemas: Schemas, rules: Rules) -> dict[str, Any]:
    problems = Problems()
    found = merge(schemas, rules, problems)
    problems.stop_if_any()
    return found

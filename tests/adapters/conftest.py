"""The project's own specs, read once."""

from __future__ import annotations

import pytest
from revgen.specification.loading import Specification, load_specification
from vector_files import ROOT


@pytest.fixture(scope="session")
def specification() -> Specification:
    return load_specification(ROOT)

"""Vectors that hold by the specification and do not hold yet, each with what is wrong.

Rule: an entry that is no longer needed fails the tests, so that it goes with the defect.
"""

from __future__ import annotations

import re

DEFECTS: tuple[tuple[str, str, str, str], ...] = ()
"""Revisions, kind of file, name of the vector (both as regular expressions), and what is wrong."""


def defect(revision: str, kind: str, name: str) -> str:
    """What is known to be wrong with what a vector is about; empty where nothing is."""
    for revisions, kinds, names, what in DEFECTS:
        if revision in revisions.split() and re.fullmatch(kinds, kind) and re.fullmatch(names, name):
            return what
    return ""

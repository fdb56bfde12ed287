"""Vectors that hold by the specification and do not hold yet, each with what is wrong.

Rule: an entry that is no longer needed fails the tests, so that it goes with the defect.
"""

from __future__ import annotations

import re

DEFECTS: tuple[tuple[str, str, str, str], ...] = (
    (
        "2024-11-05 2025-03-26 2025-06-18",
        r"(client|server)_requests",
        r".* whose progress token is .*",
        "a request is not checked against JSONRPCRequest, which says what `_meta.progressToken` may be",
    ),
    (
        "2024-11-05 2025-03-26",
        r"results",
        r".*: a result in which _meta is the number 7",
        "read_questions takes `_meta` for an object before anybody has checked it",
    ),
    (
        "2025-06-18",
        r"encoding/questions",
        r"a form with everything",
        "`_meta`, which any request may carry, is left out of a form, though of no other question",
    ),
    (
        "2025-11-25",
        r"encoding/(results|answers)",
        r"the payload of a task",
        "the payload of a task is the result of the request that became one, and all of it but `_meta` is left out",
    ),
    (
        "2026-07-28",
        r"encoding/results",
        r"a description that says nothing of keeping it|the end of a stream of changes",
        "what only this revision has is required in the canonical vocabulary too, and so is not filled in",
    ),
    (
        "2026-07-28",
        r"concerns/streamable_http",
        r"check_headers: a call without params, .*",
        "headers come before the params are checked, and a request without any fails in place of being refused",
    ),
)
"""Revisions, kind of file, name of the vector (both as regular expressions), and what is wrong."""


def defect(revision: str, kind: str, name: str) -> str:
    """What is known to be wrong with what a vector is about; empty where nothing is."""
    for revisions, kinds, names, what in DEFECTS:
        if revision in revisions.split() and re.fullmatch(kinds, kind) and re.fullmatch(names, name):
            return what
    return ""

"""Telling in the log, once each, that something is used which a served revision has deprecated.

Rule: what is declared is told at start, and what only shows when a handler does it, then. What there is instead, the revision says.
Specification: deprecated#deprecated
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.declared import Declared

log = logging.getLogger("mcp_anyrev.server")

LOGGING = "logging"


class Deprecations:
    """What one server has told."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def declared(self, adapter: Adapter, parts: Iterable[Declared]) -> None:
        """Things are offered that need what they say of a client."""
        for part in parts:
            for path in part.requires:
                self.used(adapter, path[0])

    def used(self, adapter: Adapter, what: str) -> None:
        """Something is used on a revision.

        Args:
            adapter: the revision.
            what: a row of `Adapter.deprecated`, or anything that is none.
        """
        instead = adapter.deprecated.get(what)
        if instead is not None and what not in self._told:
            self._told.add(what)
            log.warning("%s is used here, and deprecated in %s; use %s", what, adapter.version, instead)

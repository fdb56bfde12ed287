"""Failures that the author of an application meets or raises.

Rule: only the words of a `ToolError` reach a client; whatever else a handler raises is for the log.
"""

from __future__ import annotations

from mcp_contract import Forbidden, InvalidParams, ResourceNotFound, Unauthorized

__all__ = [
    "Forbidden",
    "InvalidParams",
    "RegistrationError",
    "ResourceNotFound",
    "ToolError",
    "Unauthorized",
    "WrongArguments",
]


class RegistrationError(ValueError):
    """A declaration that cannot be served. The text names the thing and the reason."""


class ToolError(Exception):
    """A tool could not do its work, in words for the client.

    Args:
        message: what the model may read, to do better or to tell the person.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class WrongArguments(Exception):
    """Arguments that do not fit what is called with them; the text names the members. Hooks around a request meet it."""

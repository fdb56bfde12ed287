"""The systems that a store and a hub can be on, chosen by URL.

Rule: what a scheme means stands in one table. A backend is imported when a server is made that is to use it; what it needs is an extra,
and who has not installed that is told what to install.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol, cast
from urllib.parse import quote

from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.storage.urls import StorageUrl


class Backend(Protocol):
    """A store and a hub on one system.

    It is made without touching anything, is opened and closed in the event loop that uses it, and may be opened again in another one.

    Attributes:
        store: the session store.
        hub: the hub.
        fault: why the system cannot be reached, without credentials; None where it can be, as far as is known.
    """

    store: SessionStore
    hub: Hub
    fault: str | None

    async def open(self) -> None:
        """Begin. It neither waits for a system that is away nor fails: whatever is asked for then is `Unavailable`, and once the system is
        there, it is used."""
        ...

    async def close(self) -> None:
        """Let go of all connections; what is kept stays for other workers."""
        ...


class MakeBackend(Protocol):
    """Makes a backend."""

    def __call__(self, url: StorageUrl, namespace: str, store: StoreBounds, hub: HubBounds) -> Backend:
        """A backend.

        Args:
            url: where it is.
            namespace: what keeps the applications on it apart: letters, digits and `_.-~%`. A backend puts the version of its own keys
                or tables beside it.
            store: how much the store keeps.
            hub: how much the hub keeps.

        Raises:
            ValueError: the URL names no place; the message has no credentials.
        """
        ...


class _Place(NamedTuple):
    """What a scheme means.

    Attributes:
        module: where the backend is.
        name: what makes it.
        needs: the module that it needs.
        extra: the extra of this distribution that brings that.
    """

    module: str
    name: str
    needs: str | None = None
    extra: str | None = None


_MEMORY = _Place("mcp_anyrev.storage.memory", "MemoryBackend")

_REDIS = _Place("mcp_anyrev.storage.redis.backend", "RedisBackend", "redis", "redis")

_POSTGRES = _Place("mcp_anyrev.storage.postgres.backend", "PostgresBackend", "asyncpg", "postgres")

_PLACES = {
    "memory": _MEMORY,
    "sqlite": _Place("mcp_anyrev.storage.sqlite.backend", "SqliteBackend"),
    "redis": _REDIS,
    "rediss": _REDIS,
    "valkey": _REDIS,
    "valkeys": _REDIS,
    "unix": _REDIS,
    "postgres": _POSTGRES,
    "postgresql": _POSTGRES,
}
"""A scheme → what it means."""

SCHEMES = tuple(_PLACES)
"""The schemes that a URL of a store can have."""


def known_url(text: str) -> str:
    """A URL that some backend is for, whose extra is installed, and that names a place.

    Raises:
        ValueError: it is none; the message says what would be one, and shows no credentials.
    """
    backend(text, "", StoreBounds(), HubBounds())
    return text


def is_shared(text: str) -> bool:
    """Do several processes that are given this URL share what is kept there?

    Raises:
        ValueError: see `known_url`.
    """
    return _place(StorageUrl(text)) is not _MEMORY


def backend(text: str, application: str, store: StoreBounds, hub: HubBounds) -> Backend:
    """The backend that a URL is for; nothing is connected to before it is opened.

    Args:
        text: the URL.
        application: the name of the application, which alone sees what it keeps.
        store: how much the store keeps.
        hub: how much the hub keeps.

    Raises:
        ValueError: see `known_url`.
    """
    url = StorageUrl(text)
    place = _place(url)
    make = cast(MakeBackend, getattr(import_module(place.module), place.name))
    return make(url, quote(application, safe=""), store, hub)


def _place(url: StorageUrl) -> _Place:
    place = _PLACES.get(url.scheme)
    if place is None:
        known = ", ".join(f"{scheme}:" for scheme in SCHEMES)
        raise ValueError(f"{url.scheme}: is not the scheme of a store; known are {known}")
    if place.needs is not None and find_spec(place.needs) is None:
        raise ValueError(f"{url.scheme}: needs an extra: pip install 'mcp-anyrev[{place.extra}]'")
    return place

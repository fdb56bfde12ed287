"""The keys of an issuer of tokens: given, or fetched when they are needed, and kept.

Rule: one fetch at a time serves all that wait, and it is bounded in time and bytes. Whoever sends nonsense makes nobody fetch: there is a
pause between two fetches, whatever came of the first. Where keys cannot be had, that is what is said.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_contract import JsonObject, Unavailable
from pydantic_core import from_json

from mcp_anyrev.declaring.threads import Threads
from mcp_anyrev.user_code import awaited, raised

if TYPE_CHECKING:
    from joserfc.jwk import Key

log = logging.getLogger("mcp_anyrev.server")

Fetched = JsonObject | str | bytes
Keys = JsonObject | str | Callable[[], Fetched | Awaitable[Fetched]]
"""A JSON Web Key Set, the address of one, or what fetches it, parsed or not."""

_PAUSE_SECONDS = 10.0
_FETCH_SECONDS = 5.0
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 100
_MOST_THREADS = 4


class KeysOfIssuer:
    """Finds keys.

    Args:
        keys: see `BearerVerifier`.
        keep: for how many seconds fetched keys are kept.

    Raises:
        ValueError: they are none.
    """

    def __init__(self, keys: Keys, keep: float) -> None:
        self._keep = keep
        self._kept: Sequence[Key] | None = None
        self._fetch: Callable[[], Any] | None = None
        self._fetched = self._tried = float("-inf")
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None
        self._threads = Threads(_MOST_THREADS)
        if callable(keys):
            self._fetch = keys
        elif isinstance(keys, str):
            self._fetch = _Download(keys)
        else:
            self._kept = _usable(keys)

    async def find(self, algorithm: str, identifier: str | None) -> Key | None:
        """The key that a signature is checked with; None where the issuer has none that fits.

        Args:
            algorithm: of the signature.
            identifier: which key it is; None for the only one that fits.

        Raises:
            Unavailable: the keys cannot be had now, or those that can be had are too old to say that there is none.
        """
        if self._fetch is not None:
            age = time.monotonic() - self._fetched
            if age > self._keep:
                fetching = self._begin()
                if age > 2 * self._keep:
                    self._kept = None
                    await self._end(fetching)
        if self._kept is None:
            raise self._unavailable()
        found = _fitting(self._kept, algorithm, identifier)
        return found if found is not None else await self.another(None, algorithm, identifier)

    async def another(self, key: Key | None, algorithm: str, identifier: str | None) -> Key | None:
        """The key after another fetch, where that gives another than before; None where it does not.

        Raises:
            Unavailable: there was none, and that there is none now cannot be found out.
        """
        before = self._fetched
        if self._fetch is not None:
            await self._end(self._begin())
            if self._fetched == before and key is None and self._failed:
                raise self._unavailable()
        found = None if self._fetched == before else _fitting(self._kept or (), algorithm, identifier)
        return None if found is None or (key is not None and found.thumbprint() == key.thumbprint()) else found

    def _begin(self) -> asyncio.Task[None] | None:
        """The fetch under way, or a new one; None within the pause after the last one."""
        loop, now = asyncio.get_running_loop(), time.monotonic()
        if self._fetching is None or self._fetching.done() or self._fetching.get_loop() is not loop:
            if now < self._tried + _PAUSE_SECONDS:
                return None
            self._tried = now
            self._fetching = asyncio.ensure_future(self._fetch_all())
        return self._fetching

    async def _end(self, fetching: asyncio.Task[None] | None) -> None:
        if fetching is not None:
            await asyncio.shield(fetching)  # others wait for it, too

    async def _fetch_all(self) -> None:
        try:
            self._kept = _usable(await awaited(self._asked(), raised))
        except Exception:
            self._failed = True
            log.exception("fetching the keys that sign bearer tokens failed")
        else:
            self._failed, self._fetched = False, time.monotonic()

    async def _asked(self) -> Fetched:
        assert self._fetch is not None
        async with asyncio.timeout(_FETCH_SECONDS):
            fetched: Fetched = await self._threads.result_of(self._fetch)
        return fetched

    def _unavailable(self) -> Unavailable:
        pause = self._tried + _PAUSE_SECONDS - time.monotonic()
        return Unavailable("the keys that sign tokens cannot be had now", 1 + int(max(0.0, pause)))


class _Download:
    """Fetches what is at an address.

    Args:
        address: the address.

    Raises:
        ValueError: it is none that can be trusted.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        at_home = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
        if not parts.hostname or not (parts.scheme == "https" or at_home):
            raise ValueError(f"keys are fetched from an https address, not from {address!r}")
        self._address = address

    async def __call__(self) -> bytes:
        """The bytes there; no address but this one is asked.

        Raises:
            ValueError: there is too much.
            ClientError: it cannot be had.
        """
        from aiohttp import ClientSession

        async with (
            ClientSession(raise_for_status=True) as session,
            session.get(self._address, allow_redirects=False) as response,
        ):
            fetched = bytearray()
            async for piece in response.content.iter_any():
                fetched += piece
                _check_size(fetched)
            return bytes(fetched)


def _usable(keys: Any) -> Sequence[Key]:
    """The keys of a set, as far as they can be used.

    Raises:
        ValueError: it is no set, or too large, or of no use.
    """
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    if isinstance(keys, str | bytes | bytearray):
        _check_size(keys)
        keys = from_json(keys)
    listed = keys.get("keys") if isinstance(keys, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError("this is no JSON Web Key Set: an object with a list of keys")
    if len(listed) > _MOST_KEYS:
        raise ValueError(f"a key set has at most {_MOST_KEYS} keys here")
    usable = []
    for one in listed:
        try:
            usable.append(import_key(one))
        except (
            JoseError,
            ValueError,
            TypeError,
            KeyError,
        ) as reason:  # an issuer may have keys of kinds that are not known here
            log.debug("a key of the issuer cannot be used: %s", reason)
    if not usable:
        raise ValueError("no key of the key set can be used")
    return usable


def _fitting(keys: Sequence[Key], algorithm: str, identifier: str | None) -> Key | None:
    """The only key that fits a signature; None where there is none, or several."""
    from joserfc.jws import JWSRegistry

    wanted = JWSRegistry.algorithms[algorithm]
    curve = getattr(wanted, "curve", None)
    fitting = [
        key
        for key in keys
        if (identifier is None or key.kid == identifier)
        and key.key_type == wanted.key_type
        and (curve is None or getattr(key, "curve_name", None) == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    ]
    return fitting[0] if len(fitting) == 1 else None


def _check_size(fetched: str | bytes | bytearray) -> None:
    if len(fetched) > _MOST_BYTES:
        raise ValueError(f"a key set has at most {_MOST_BYTES} bytes here")

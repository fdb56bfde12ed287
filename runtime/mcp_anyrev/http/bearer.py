"""Who sends a request, by a signed bearer token.

Rule: a token counts only if it is signed with a key of its issuer by an algorithm that was asked for, was made for this very
server, and is in time. Nothing else of a request is looked at, and why a token does not count is told in general words only.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp_contract import Forbidden, JsonObject, Unauthorized

from mcp_anyrev.head import Head
from mcp_anyrev.principal import Principal

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

log = logging.getLogger("mcp_anyrev.server")

Keys = JsonObject | Callable[[], JsonObject | Awaitable[JsonObject]]

_LONGEST_TOKEN = 16_384
_INVALID = "invalid_token"
_ASYMMETRIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")


class BearerVerifier:
    """Finds the principal in the `Authorization` header; for `Settings.principal`. It needs the extra `auth`.

    Args:
        issuer: who gives out the tokens, as the claim `iss` names it.
        resource: this server's own address, which the claim `aud` must name.
        keys: the issuer's keys: a JSON Web Key Set, or a function, async or not, that fetches it. What it gives is kept.
        scopes: what every token must allow.
        algorithms: the signatures that are taken.
        leeway_seconds: by how much clocks may differ.
        keep_seconds: for how long fetched keys are kept. For an unknown key they are fetched sooner, but not each time.
        clock: seconds since the epoch.

    Raises:
        ImportError: the extra is not installed.
        ValueError: an algorithm is none that has a public key, or a string stands where several are wanted.
    """

    def __init__(
        self,
        *,
        issuer: str,
        resource: str,
        keys: Keys,
        scopes: Sequence[str] = (),
        algorithms: Sequence[str] = ("RS256", "ES256", "EdDSA"),
        leeway_seconds: float = 30,
        keep_seconds: float = 600,
        clock: Callable[[], float] = time.time,
    ) -> None:
        try:
            import joserfc  # noqa: F401
        except ImportError:
            raise ImportError("checking bearer tokens needs joserfc; install mcp-anyrev[auth]") from None
        for name, several in (("scopes", scopes), ("algorithms", algorithms)):
            if isinstance(several, str):
                raise ValueError(f"{name} are several strings; give [{several!r}]")
        unknown = sorted(set(algorithms) - set(_ASYMMETRIC))
        if unknown or not algorithms:
            raise ValueError(f"{', '.join(unknown) or 'no algorithm'} cannot be used; known: {', '.join(_ASYMMETRIC)}")
        self._issuer = issuer
        self._resource = resource
        self._scopes = tuple(scopes)
        self._algorithms = list(algorithms)
        self._leeway = leeway_seconds
        self._clock = clock
        self._keys = _Keys(keys, keep_seconds)

    async def __call__(self, head: Head) -> Principal:
        """The principal of a request.

        Raises:
            Unauthorized: there is no token, or none that counts.
            Forbidden: the token does not allow enough.
        """
        token = self._token(head.headers)
        claims = await self._claims(token)
        granted = claims.get("scope", "")
        scopes = granted.split() if isinstance(granted, str) else []
        missing = [scope for scope in self._scopes if scope not in scopes]
        if missing:
            raise Forbidden(f"the token lacks the scope {', '.join(missing)}", self._scopes)
        return Principal(claims["sub"], scopes, claims)

    def _token(self, headers: Mapping[str, str]) -> str:
        given = headers.get("authorization")
        if given is None:
            raise Unauthorized("this server wants a bearer token", scopes=self._scopes)
        scheme, _, token = given.strip().partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _LONGEST_TOKEN or not token.isascii():
            raise Unauthorized("the Authorization header holds no bearer token", scopes=self._scopes)
        return token

    async def _claims(self, token: str) -> JsonObject:
        from joserfc import jwt
        from joserfc.errors import JoseError

        for keys in (self._keys.known, self._keys.fresh):
            found = await keys()
            if found is None:
                continue
            try:
                claims = jwt.decode(token, found, algorithms=self._algorithms).claims
            except (JoseError, ValueError, TypeError, KeyError) as reason:
                log.debug("a bearer token does not count: %s", reason)
                continue
            if self._holds(claims):
                return claims
            break
        raise Unauthorized("the bearer token does not count here", _INVALID, self._scopes)

    def _holds(self, claims: Any) -> bool:
        """Was the token made by the issuer, for this server, for now and for somebody?"""
        if not isinstance(claims, dict) or claims.get("iss") != self._issuer:
            return False
        audience, subject, now = claims.get("aud"), claims.get("sub"), self._clock()
        if self._resource not in (audience if isinstance(audience, list) else [audience]):
            return False
        if not isinstance(subject, str) or not subject:
            return False
        end, start = claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(end, int | float) or not isinstance(start, int | float):
            return False
        return start - self._leeway <= now < end + self._leeway


class _Keys:
    """The keys of an issuer: given, or fetched and kept."""

    _RETRY_SECONDS = 10.0

    def __init__(self, keys: Keys, keep: float) -> None:
        self._given = keys
        self._keep = keep
        self._kept: KeySet | None = None
        self._fetched = self._tried = float("-inf")

    async def known(self) -> KeySet | None:
        """The keys, fetched if they are not there or too old."""
        if self._kept is None or (callable(self._given) and time.monotonic() > self._fetched + self._keep):
            await self._fetch()
        return self._kept

    async def fresh(self) -> KeySet | None:
        """The keys fetched anew, for a token that the kept ones do not fit; None where there are no newer ones."""
        before = self._kept
        if callable(self._given):
            await self._fetch()
        return None if self._kept is before else self._kept

    async def _fetch(self) -> None:
        from joserfc.jwk import KeySet

        now = time.monotonic()
        if now < self._tried + self._RETRY_SECONDS:  # whoever sends nonsense must not make this server ask all the time
            return
        self._tried = now
        try:
            given = self._given() if callable(self._given) else self._given
            found = await given if inspect.isawaitable(given) else given
            self._kept, self._fetched = KeySet.import_key_set(found), now  # type: ignore[arg-type]  # what is no key set fails here
        except Exception:
            log.exception("fetching the keys that sign bearer tokens failed")

"""Who sends a request, by a signed bearer token.

Rule: a token counts only if it is signed with a key of its issuer by an algorithm that was asked for, was made for this very
server, and is in time. Nothing else of a request is looked at, and why a token does not count is told in general words only. That
the keys cannot be had is no fault of a token.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp_contract import Forbidden, Json, JsonObject, Unauthorized
from pydantic_core import from_json

from mcp_anyrev.head import Head
from mcp_anyrev.http.bearer_keys import Keys, KeysOfIssuer
from mcp_anyrev.principal import Principal

_LONGEST_TOKEN = 16_384
_INVALID = "invalid_token"
_ASYMMETRIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")


class BearerVerifier:
    """Finds the principal in the `Authorization` header; for `Settings.principal`. It needs the extra `auth`.

    Args:
        issuer: who gives out the tokens, as the claim `iss` names it.
        resource: this server's own address, which the claim `aud` must name.
        keys: the issuer's keys: a JSON Web Key Set, the https address of one, or a function, async or not, that fetches it, parsed or
            not. What is fetched is kept.
        scopes: what every token must allow; a token says what it does in `scope` or `scp`, as words or as a list.
        algorithms: the signatures that are taken.
        leeway_seconds: by how much clocks may differ.
        keep_seconds: for how long fetched keys are kept, and once more as long while there are no others to be had. For an unknown key
            they are fetched sooner, but not each time.
        clock: seconds since the epoch.

    Raises:
        ImportError: the extra is not installed.
        ValueError: an algorithm is none that has a public key, a string stands where several are wanted, or the keys are none.
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
        self._keys = KeysOfIssuer(keys, keep_seconds)

    async def __call__(self, head: Head) -> Principal:
        """The principal of a request.

        Raises:
            Unauthorized: there is no token, or none that counts.
            Forbidden: the token does not allow enough.
            Unavailable: the keys that it would have to be signed with cannot be had now.
        """
        token = self._token(head.headers)
        claims = await self._claims(token)
        scopes = [*_words(claims.get("scope")), *_words(claims.get("scp"))]
        missing = [scope for scope in self._scopes if scope not in scopes]
        if missing:
            raise Forbidden(f"the token lacks the scope {', '.join(missing)}", self._scopes)
        return Principal(claims["sub"], scopes, claims, expires_at=claims["exp"] + self._leeway)

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

        algorithm, identifier = self._signed_by(token)
        reason = "no key of the issuer fits its signature"
        key = await self._keys.find(algorithm, identifier)
        while key is not None:
            try:
                claims = jwt.decode(token, key, algorithms=[algorithm]).claims
            except (JoseError, ValueError, TypeError, KeyError) as fault:
                reason = str(fault) or type(fault).__name__
                key = await self._keys.another(key, algorithm, identifier)
                continue
            lacking = self._lacking(claims)
            if lacking is None:
                return claims
            reason = lacking
            break
        raise self._does_not_count() from _WhyNot(reason)

    def _signed_by(self, token: str) -> tuple[str, str | None]:
        """The algorithm of a token's signature, one of those that are taken, and which key its head names, if any."""
        part = token.partition(".")[0]
        try:
            said: Json = from_json(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        except ValueError:
            raise self._does_not_count() from _WhyNot("it is no JSON Web Token")
        algorithm = said.get("alg") if isinstance(said, dict) else None
        identifier = said.get("kid") if isinstance(said, dict) else None
        if algorithm not in self._algorithms or not isinstance(identifier, str | None):
            taken = ", ".join(self._algorithms)
            raise self._does_not_count() from _WhyNot(f"it is signed with {algorithm!r}; algorithms are {taken}")
        return str(algorithm), identifier

    def _does_not_count(self) -> Unauthorized:
        return Unauthorized("the bearer token does not count here", _INVALID, self._scopes)

    def _lacking(self, claims: Any) -> str | None:
        """Why a token does not count: it was made by another issuer, for another server, for another time, or for nobody."""
        if not isinstance(claims, dict) or claims.get("iss") != self._issuer:
            issuer = claims.get("iss") if isinstance(claims, dict) else None
            return f"it was made by {issuer!r}; the issuer is {self._issuer!r}"
        audience, subject, now = claims.get("aud"), claims.get("sub"), self._clock()
        if self._resource not in (audience if isinstance(audience, list) else [audience]):
            return f"it was made for {audience!r}; the resource is {self._resource!r}"
        if not isinstance(subject, str) or not subject:
            return "it names nobody in `sub`"
        end, start = claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(end, int | float) or not isinstance(start, int | float):
            return "it does not say in `exp` until when it counts"
        if now >= end + self._leeway:
            return f"it has expired {now - end:.0f} seconds ago"
        return None if now >= start - self._leeway else f"it counts in {start - now:.0f} seconds only"


class _WhyNot(Exception):
    """Why a token does not count, for the log; whoever sent it is not told."""


def _words(granted: Json) -> list[str]:
    """Scopes as a token has them: text with blanks between them, or a list."""
    if isinstance(granted, str):
        return granted.split()
    return [scope for scope in granted if isinstance(scope, str)] if isinstance(granted, list) else []

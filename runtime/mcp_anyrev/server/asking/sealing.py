"""State that travels through a client: unreadable for it, and refused if it comes back changed, late or elsewhere.

Rule: AES-GCM with a key derived from the server's secret. What the state is for goes in as associated data, so that no check can
be forgotten: state of another principal, tool or call does not open.
Specification: basic/patterns/mrtr#server-requirements-basic-workflow
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from collections.abc import Callable, Sequence

from mcp_contract import JsonObject
from pydantic_core import from_json, to_json

_NONCE_BYTES = 12
_SHORTEST_KEY_BYTES = 16


class SealBroken(Exception):
    """Text that this server did not seal, or not for this, or too long ago. Which of them is nobody's business."""


class Seal:
    """Seals and opens.

    Args:
        keys: secrets of at least 16 bytes; the first one seals, all of them open. Without any, one is made.
        ttl: for how many seconds a sealed text opens.
        clock: seconds since the epoch, as all workers see them.

    Raises:
        ValueError: a key is too short.
    """

    def __init__(self, keys: Sequence[bytes], ttl: float, clock: Callable[[], float] = time.time) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if any(len(key) < _SHORTEST_KEY_BYTES for key in keys):
            raise ValueError(f"a key has at least {_SHORTEST_KEY_BYTES} bytes")
        self._ciphers = [AESGCM(_derived(key)) for key in keys or [os.urandom(32)]]
        self._ttl = ttl
        self._clock = clock

    def seal(self, state: JsonObject, purpose: bytes) -> str:
        """State → text that only this server can read.

        Args:
            state: what is to come back.
            purpose: what it is for; the same bytes open it.
        """
        nonce = os.urandom(_NONCE_BYTES)
        plain = to_json({"end": self._clock() + self._ttl, "state": state})
        return base64.urlsafe_b64encode(nonce + self._ciphers[0].encrypt(nonce, plain, purpose)).decode().rstrip("=")

    def open(self, text: str, purpose: bytes) -> JsonObject:
        """The state that was sealed.

        Args:
            text: what came back.
            purpose: what it is presented for.

        Raises:
            SealBroken: it was not sealed here for this purpose, or its time is over.
        """
        from cryptography.exceptions import InvalidTag

        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise SealBroken from None
        if len(raw) <= _NONCE_BYTES:
            raise SealBroken
        for cipher in self._ciphers:
            try:
                plain = cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], purpose)
            except InvalidTag:
                continue
            opened: JsonObject = from_json(plain)
            if opened["end"] <= self._clock():
                break
            state: JsonObject = opened["state"]
            return state
        raise SealBroken


def _derived(key: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=32, salt=None, info=b"mcp-anyrev state of an unfinished call").derive(key)

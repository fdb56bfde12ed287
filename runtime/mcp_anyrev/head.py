"""The head of a request over HTTP, as applications and the server see it.

Rule: plain data, the same on every transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from multidict import CIMultiDict, CIMultiDictProxy


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request.

    Attributes:
        method: the HTTP method, in capitals.
        path: the path of the address, as the transport routed it, without escapes.
        query: what follows the `?` of the address, as it was sent; empty where there is nothing.
        headers: the header fields. Names are looked up without regard to case; the values of a repeated field stand one after the
            other, joined by a comma, as HTTP has it. They are text: bytes that are none in UTF-8 are refused before anybody sees them. Any mapping is taken; what is kept cannot be changed.
        peer: the network address that the request came from, as the server sees it: behind a proxy that of the proxy, unless the server
            was told to trust it. None where there is none, as on a socket of the file system.
        root: what the path begins with since the application is mounted there; empty where it is not.
    """

    method: str
    path: str = "/"
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    peer: str | None = None
    root: str = ""

    def __post_init__(self) -> None:
        fields = self.headers
        if len(set(map(str.lower, fields))) != len(fields):
            joined: CIMultiDict[str] = CIMultiDict()
            for name, value in fields.items():
                joined[name] = f"{joined[name]}, {value}" if name in joined else value
            fields = joined
        if not isinstance(fields, CIMultiDictProxy):
            fields = CIMultiDictProxy(fields if isinstance(fields, CIMultiDict) else CIMultiDict(fields))
            object.__setattr__(self, "headers", fields)

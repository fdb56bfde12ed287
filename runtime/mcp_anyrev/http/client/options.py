"""How a client speaks HTTP.

Rule: everything here has a default; what cannot work is refused where it is made. Nothing here is needed on any other transport.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_anyrev.client.wire import OnWire
from mcp_anyrev.http.client.auth import Auth, check_auth


@dataclass(frozen=True, kw_only=True)
class HttpOptions:
    """How a client speaks HTTP.

    Attributes:
        headers: sent with every request to the server's own origin, and to no other.
        auth: how requests to that origin are authorised. Text is a bearer token. A function, plain or async, is given each request before it
            is sent, and sets its `headers`. An object with `auth_flow(request)` or `async_auth_flow(request)`, such as an `Auth` of httpx,
            gives a generator that yields requests to be sent and is sent what answers them; what answers the last one counts.
        ssl: for https; None for what the machine trusts.
        trust_environment: are the proxies used that the environment names, and the passwords of `.netrc`?
        connect_seconds: how long it may take to connect.
        listens: is a stream held open for what a server says of its own accord, where it has one?
        on_wire: looks at the head of each request that is sent, and of what answers it; see `WireHead`.

    Raises:
        ValueError: a header, a token or a number is none.
        TypeError: `auth` is none of these.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth: Auth | None = field(default=None, repr=False)
    ssl: ssl.SSLContext | None = None
    trust_environment: bool = False
    connect_seconds: float = 10.0
    listens: bool = True
    on_wire: OnWire | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not name.isascii() or not name.isprintable() or " " in name or not name:
                raise ValueError(f"{name!r} is no name of a header")
            if not value.isprintable():
                raise ValueError(f"the value of the header {name} holds what no header can")
        if not self.connect_seconds > 0:
            raise ValueError(f"connect_seconds is more than 0; this is {self.connect_seconds:g}")
        check_auth(self.auth)

"""The head of a request over HTTP, as applications and the server see it.

Rule: plain data, alike on every transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Head(NamedTuple):
    """The head of a request.

    Attributes:
        method: the HTTP method, in capitals.
        headers: the header fields; looked up by names in lower case.
        path: the path of the endpoint, as the transport routed it.
    """

    method: str
    headers: Mapping[str, str]
    path: str = "/"

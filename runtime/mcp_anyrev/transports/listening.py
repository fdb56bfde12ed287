"""Sockets that listen before anybody serves on them.

Rule: what cannot be listened on is told at once. Processes that are made afterwards share them, and the system hands each connection to
one of these that is free.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence

_BACKLOG = 1_024


def listening(host: str, port: int) -> Sequence[socket.socket]:
    """Sockets that listen on every address of an interface, on one port.

    Args:
        host: the interface.
        port: the port; 0 for any that is free.

    Raises:
        OSError: the port is taken, or must not be used, or the interface is none of this machine.
    """
    found: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            made = socket.socket(family, kind, protocol)
            found.append(made)
            if sys.platform != "win32":
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind((address[0], port, *address[2:]))
            port = made.getsockname()[1]
            made.listen(_BACKLOG)
            made.setblocking(False)
    except OSError:
        for made in found:
            made.close()
        raise
    return found

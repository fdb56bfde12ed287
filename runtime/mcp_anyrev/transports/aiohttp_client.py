"""HTTP on aiohttp's client.

Rule: a shell: it sends a request as it is, and gives what comes. Redirects, compression, what authorises a request and what is kept of
servers, others see to. aiohttp is imported when the first request is sent.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp_anyrev.client.errors import CannotConnect, WrongAnswer
from mcp_anyrev.http.client.exchange import Answer, Request
from mcp_anyrev.http.client.http_sse import HttpSseTransport
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.http.client.requester import Requester
from mcp_anyrev.http.client.streamable import StreamableHttpTransport

if TYPE_CHECKING:
    import aiohttp
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.settings import Limits

_UNUSED_SECONDS = 4.0
"""How long an unused connection is kept: not as long as servers do, which mostly is 5 s, since a POST on one that is just being closed
is lost."""


def streamable_http(url: str, limits: Limits, options: HttpOptions) -> StreamableHttpTransport:
    """What carries the messages of a client over Streamable HTTP.

    Args:
        url: the server's address.
        limits: how much may wait to be sent, and how large may be what comes.
        options: how HTTP is spoken.

    Raises:
        ValueError: that is no address.
    """
    requester = Requester(url, AiohttpConnector(options), options, limits.body_bytes)
    return StreamableHttpTransport(requester, limits, listens=options.listens)


def http_sse(url: str, adapter: Adapter, limits: Limits, options: HttpOptions) -> HttpSseTransport:
    """What carries the messages of a client over HTTP+SSE.

    Args:
        url: the address that opens the stream.
        adapter: a revision that is carried, in whose words the stream begins.
        limits: how much may wait to be sent, and how large may be what comes.
        options: how HTTP is spoken.

    Raises:
        ValueError: that is no address.
    """
    requester = Requester(url, AiohttpConnector(options), options, limits.body_bytes)
    return HttpSseTransport(requester, adapter, limits, options.connect_seconds)


class AiohttpConnector:
    """See `Connector`.

    Args:
        options: how HTTP is spoken.
    """

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def send(self, request: Request, most_bytes: int) -> AsyncIterator[Answer]:
        """See `Connector.send`."""
        response = await self._sent(request)
        try:
            yield Answer(request, response.status, response.headers, _pieces(response), most_bytes)
        finally:
            if response.content.at_eof():
                response.release()
            else:
                response.close()

    async def close(self) -> None:
        """See `Connector.close`."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def _sent(self, request: Request) -> aiohttp.ClientResponse:
        import aiohttp

        where = request.url.origin()
        headers = request.headers.copy()
        headers.setdefault("accept-encoding", "identity")  # so that nobody holds events back
        try:
            return await self._opened().request(
                request.method,
                request.url,
                headers=headers,
                data=request.content or None,
                allow_redirects=False,
            )
        except aiohttp.ClientResponseError as error:
            raise WrongAnswer(f"{where} does not speak HTTP: {error.message}") from None
        except TimeoutError:
            raise CannotConnect(f"{where} does not answer within {self._options.connect_seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CannotConnect(f"{where} cannot be reached: {error}") from None

    def _opened(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            options = self._options
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_UNUSED_SECONDS, ssl=True if options.ssl is None else options.ssl
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_seconds),
                auto_decompress=False,
                trust_env=options.trust_environment,
            )
        return self._session


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    import aiohttp

    try:
        async for piece in response.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as error:
        raise CannotConnect(f"the server's answer broke off: {error}") from None

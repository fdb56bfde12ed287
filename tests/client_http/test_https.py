"""HTTPS: certificates are looked at, and a server that never gets through its handshake is given up."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import pathlib
import ssl
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp_anyrev import CannotConnect, Client, Registry
from mcp_anyrev.serving.server import Server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A certificate of this machine that nobody else has signed, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("https") / "certificate.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *form)
    )
    return path


@contextlib.asynccontextmanager
async def served(certificate: pathlib.Path) -> AsyncIterator[str]:
    registry = Registry("secret", "1.0")

    @registry.tool
    async def plain() -> str:
        return "fine"

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = Server(registry)
    application = web.Application()
    application.add_routes(server.routes())
    application.on_startup.append(server.start)
    application.on_shutdown.append(server.close)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: pathlib.Path) -> None:
    async with served(certificate) as url, Client(url) as client:
        with pytest.raises(CannotConnect, match="certificate"):
            await client.initialize()


async def test_a_context_says_what_is_trusted(certificate: pathlib.Path) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with served(certificate) as url, Client(url, ssl=trusting) as client:
        assert (await client.call_tool("plain")).content[0].text == "fine"


async def test_a_handshake_that_goes_nowhere_is_given_up() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        async with Client(url, connect_seconds=0.2) as client:
            with pytest.raises(CannotConnect, match="within"):
                await client.initialize()
    finally:
        server.close()

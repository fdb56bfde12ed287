"""An extension of a server, called in whichever way the revision has.

Rule: the same calls on every revision: as methods of the extension's own, or by reading the resources that stand for them. What there
is, the server's manifest says; nothing is guessed.
Specification: basic/versioning#extension-negotiation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp_contract import JsonObject, member
from pydantic_core import from_json, to_json

from mcp_anyrev.client.errors import NotOffered, RequestRefused, WrongAnswer
from mcp_anyrev.client.offers import offered

if TYPE_CHECKING:
    from mcp_anyrev.client.session import ClientSession

_READ = "resources/read"
MANIFEST = "manifest.json"


class ClientExtension:
    """An extension of a server; `Client.extension` makes it.

    Args:
        session: the session with the server.
        name: the identifier of the extension.
    """

    def __init__(self, session: ClientSession, name: str) -> None:
        self.name = name
        self._session = session
        self._manifest: JsonObject | None = None

    async def settings(self) -> JsonObject:
        """What the server declares of it.

        Raises:
            NotOffered: the server does not have it.
        """
        agreement = await self._session.open()
        declared = offered(agreement, "extensions", self.name)
        if declared is None and not agreement.adapter.declares_extensions:
            declared = (await self._told()).get("settings")
        if not isinstance(declared, dict):
            raise NotOffered(f"the server does not have the extension {self.name!r}")
        return declared

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_seconds: float | None = None
    ) -> JsonObject:
        """The result of one of its methods.

        Args:
            method: the method.
            params: its params, as JSON.
            timeout_seconds: for how long nothing may come; None for what holds for all calls.

        Raises:
            NotOffered: the server has no such extension or method; nothing was called.
            ClientError: there is no result.
        """
        given = dict(params or {})
        await self.settings()
        if self._manifest is None:  # the server declares it, in whichever revision
            self._session.connection.of_extensions.add(method)
            result = await self._session.request(method, given, timeout_seconds)
            return {name: value for name, value in result.items() if name != "resultType"}
        uri = await self._route(method, given)
        return _object_in(await self._session.request(_READ, {"uri": uri}, timeout_seconds), method)

    async def _route(self, method: str, params: JsonObject) -> str:
        """The address of the resource that stands for a method with these params."""
        methods = (await self._told()).get("methods")
        for told in methods if isinstance(methods, list) else ():
            if member(told, "method") != method:
                continue
            uri, template = told.get("uri"), told.get("uriTemplate")
            if isinstance(uri, str):
                return uri
            if isinstance(template, str):
                return template.replace("{params}", quote(to_json(params), safe=""))
        raise NotOffered(f"the server has no way to call {method} of the extension {self.name!r} on this revision")

    async def _told(self) -> JsonObject:
        """What the server's manifest says."""
        if self._manifest is None:
            address = (await self._session.open()).adapter.extension_address(self.name, MANIFEST)
            try:
                read = await self._session.request(_READ, {"uri": address})
            except RequestRefused as error:
                raise NotOffered(f"the server does not have the extension {self.name!r}") from error
            self._manifest = _object_in(read, MANIFEST)
        return self._manifest


def _object_in(read: JsonObject, what: str) -> JsonObject:
    """The JSON object that a resource holds as text."""
    contents = read.get("contents")
    text = member(contents[0], "text") if isinstance(contents, list) and contents else None
    try:
        told = from_json(text) if isinstance(text, str) else None
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise WrongAnswer(f"{what}: what the server gives is no JSON object")
    return told

"""What `mcp-anyrev serve` is to serve, and how: from the target, from settings that are declared, and from options.

Rule: what is said on the command line wins; names that may be used are added to those that are declared.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from mcp_anyrev.cli.targets import TargetFault, load_registry_or_server, load_settings
from mcp_anyrev.serving.server import Server
from mcp_anyrev.settings import Settings

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

_KEYS = "MCP_ANYREV_KEYS"
_KEY_BYTES = 32


@dataclass(frozen=True)
class Served:
    """A registry, and how it is to be served."""

    registry: Registry
    settings: Settings

    @property
    def server(self) -> Server:
        """A new server of it."""
        return Server(self.registry, self.settings)


@dataclass(frozen=True)
class Said:
    """What the command line says of it.

    Attributes:
        target: where the registry is, or the server.
        settings: where the settings are; None for none.
        revisions: the revisions that are served.
        store: the URL of the store.
        hosts: further names for `Settings.allowed_hosts`.
        origins: the same for `Settings.allowed_origins`.
    """

    target: str
    settings: str | None = None
    revisions: Sequence[str] | None = None
    store: str | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()

    def load(self, workers: int = 1) -> Served:
        """Import it, and put together how it is served.

        Args:
            workers: how many processes are to serve it, which have secrets in common.

        Raises:
            click.UsageError: there is no such thing, or something that was said cannot be.
        """
        from pydantic import ValidationError

        try:
            self._settings(Settings(), workers)  # what is wrong with the options is said before anything is imported
            found = load_registry_or_server(self.target)
        except TargetFault as fault:
            raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
        except ValidationError as faults:
            said = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in faults.errors())
            raise click.UsageError(said) from None
        if not isinstance(found, Server):
            return Served(found, self._settings(self._declared(), workers))
        if self.settings is not None:
            raise click.UsageError("--settings means nothing for a Server, which has its own")
        return Served(found.registry, self._settings(found.settings, workers))

    def _declared(self) -> Settings:
        if self.settings is None:
            return Settings()
        try:
            return load_settings(self.settings)
        except TargetFault as fault:
            raise click.BadParameter(str(fault), param_hint="--settings") from None

    def _settings(self, declared: Settings, workers: int) -> Settings:
        said: dict[str, Any] = {"revisions": self.revisions, "store": self.store}
        keys = tuple(each.encode() for each in os.environ.get(_KEYS, "").split()) or tuple(declared.keys)
        return replace(
            declared,
            **{name: value for name, value in said.items() if value is not None},
            keys=keys or ((secrets.token_bytes(_KEY_BYTES),) if workers > 1 else ()),
            allowed_hosts=(*declared.allowed_hosts, *self.hosts),
            allowed_origins=(*declared.allowed_origins, *self.origins),
        )

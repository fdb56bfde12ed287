"""Results of a server, for a person to look at.

Rule: text is shown as it is; of what is no text, its type and its size are told, and `--output` has the bytes.
Specification: server/tools#tool-result, server/resources#resource-contents
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
from mcp_contract import Json
from mcp_revisions import canonical
from pydantic import BaseModel
from pydantic_core import from_json

if TYPE_CHECKING:
    from mcp_anyrev.cli.terminal import Terminal
    from mcp_anyrev.client.results import CallToolResult


def plain(value: BaseModel) -> Json:
    """A canonical value as JSON, with what the server gave and nothing else."""
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


def shown_result(terminal: Terminal, result: CallToolResult) -> None:
    """Show what a tool gave."""
    for block in result.content:
        terminal.data(words_of(block))
    if "structured_content" in result.model_fields_set and not _says(result.content, result.structured_content):
        terminal.data_json(result.structured_content)


def words_of(block: Any) -> str:
    """A piece of content, or of a resource, in words."""
    if isinstance(block, canonical.TextContent | canonical.TextResourceContents):
        return block.text
    if isinstance(block, canonical.ImageContent | canonical.AudioContent):
        return f"[{block.type} {block.mime_type}, {_size(block.data)}]"
    if isinstance(block, canonical.BlobResourceContents):
        return f"[{block.mime_type or 'bytes'} {block.uri}, {_size(block.blob)}]"
    if isinstance(block, canonical.ResourceLink):
        title = block.title or block.name
        return f"[link {block.uri} {title}{f': {block.description}' if block.description else ''}]"
    if isinstance(block, canonical.EmbeddedResource):
        inner = words_of(block.resource)
        return (
            f"[resource {block.resource.uri}]\n{inner}"
            if isinstance(block.resource, canonical.TextResourceContents)
            else inner
        )
    return json.dumps(block if not isinstance(block, BaseModel) else plain(block), ensure_ascii=False)


def save(terminal: Terminal, blocks: Iterable[Any], output: str) -> None:
    """Write the bytes of content to a file, or to stdout for `-`; the text where nothing else is there.

    Where there are several, each after the first one has a number in the name of its file.

    Raises:
        click.ClickException: a file cannot be written, or there is nothing to write.
    """
    found = list(blocks)
    pieces = [piece for piece in map(_bytes_of, found) if piece is not None]
    texts = [words_of(block) for block in found if _bytes_of(block) is None]
    pieces = pieces or (["\n".join(texts).encode()] if texts else [])
    if not pieces:
        raise click.ClickException("there is nothing to write")
    if output == "-":
        for piece in pieces:
            terminal.bytes(piece)
        return
    for path, piece in zip(_numbered(pathlib.Path(output), len(pieces)), pieces, strict=True):
        try:
            path.write_bytes(piece)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror or error}") from None
        terminal.note(f"{path}: {len(piece)} bytes")


def _numbered(path: pathlib.Path, count: int) -> list[pathlib.Path]:
    return [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, count + 1))]


def _says(blocks: Sequence[Any], value: Json) -> bool:
    """Does a text say the same as a structured value already?"""
    for block in blocks:
        if isinstance(block, canonical.TextContent):
            if value in (
                block.text,
                {"result": block.text},
            ):  # what is no object is wrapped into one, mostly by this name
                return True
            try:
                if from_json(block.text) == value:
                    return True
            except ValueError:
                continue
    return False


def _bytes_of(block: Any) -> bytes | None:
    """The bytes of content; None where it is text, or what it holds is no Base64."""
    import base64
    import binascii

    if isinstance(block, canonical.EmbeddedResource):
        return _bytes_of(block.resource)
    encoded = (
        getattr(block, "data", None) if isinstance(block, canonical.ImageContent | canonical.AudioContent) else None
    )
    encoded = block.blob if isinstance(block, canonical.BlobResourceContents) else encoded
    try:
        return None if encoded is None else base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return None


def _size(encoded: str) -> str:
    return f"{len(encoded.rstrip('=')) * 3 // 4} bytes"

"""What stands in for content that a revision lacks.

Rule: what is replaced says at least as much as what it replaces; nothing becomes nothing.
"""

from __future__ import annotations

import base64
import hashlib

from mcp_contract.messages import JsonObject


def without(value: JsonObject, name: str) -> JsonObject:
    """A copy of an object without one member; the object itself where it lacks that member."""
    if name not in value:
        return value
    return {member: inner for member, inner in value.items() if member != name}


def audio_as_resource(block: JsonObject) -> list[JsonObject]:
    """Audio → a text that names type and size, then an embedded resource with the bytes.

    The resource is named by the digest of the data (RFC 6920), so that equal audio has equal names.

    Args:
        block: an audio block: `data` (Base64), `mimeType`, maybe `annotations`.
    """
    data = block["data"]
    size = len(data.rstrip("=")) * 3 // 4
    digest = base64.urlsafe_b64encode(hashlib.sha256(data.encode()).digest()).decode().rstrip("=")
    shared = {"annotations": block["annotations"]} if "annotations" in block else {}
    resource = {"uri": f"ni:///sha-256;{digest}", "mimeType": block["mimeType"], "blob": data}
    return [
        {
            "type": "text",
            "text": f"Audio, {block['mimeType']}, {size} bytes; the bytes follow as a resource.",
            **shared,
        },
        {"type": "resource", "resource": resource, **shared},
    ]


def link_as_text(block: JsonObject) -> JsonObject:
    """A link to a resource → a text that names title, URI and description.

    Args:
        block: a resource link: `name`, `uri`, maybe `title`, `description`, `mimeType`, `annotations`.
    """
    words = f"{block.get('title') or block['name']}: {block['uri']}"
    if block.get("mimeType"):
        words += f" ({block['mimeType']})"
    if block.get("description"):
        words += f"\n{block['description']}"
    shared = {"annotations": block["annotations"]} if "annotations" in block else {}
    return {"type": "text", "text": words, **shared}


def as_one_block(blocks: list[JsonObject]) -> JsonObject:
    """Several blocks → the one that a place for a single block can hold.

    Args:
        blocks: any number of content blocks.

    Returns:
        The only block; texts joined by line breaks where all are texts; else the first that is no text. No block at all is an
        empty text.
    """
    if len(blocks) == 1:
        return blocks[0]
    others = [block for block in blocks if block["type"] != "text"]
    return others[0] if others else {"type": "text", "text": "\n".join(block["text"] for block in blocks)}

"""What workers of one server share: values under keys, and messages on topics.

Rule: the protocols stand in `protocols`, what a key is in `keys`, which systems there are in `backends`; `memory` has both within this
process.
"""

from mcp_anyrev.storage.protocols import Hub, SessionStore

__all__ = ["Hub", "SessionStore"]

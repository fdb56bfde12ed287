"""What makes an application easy to test.

Rule: what runs here is what runs in production: the same core, over the same transport.
"""

from mcp_anyrev.transports.serving import serve

__all__ = ["serve"]

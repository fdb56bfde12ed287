"""What makes an application easy to test.

Rule: what runs here is what runs in production: the same core, over the same transport.
"""

from mcp_anyrev.serving.serve import serve

__all__ = ["serve"]

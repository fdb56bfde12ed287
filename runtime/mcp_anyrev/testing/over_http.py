"""Servers that are reached over HTTP, for tests that are about HTTP.

Rule: on a port of this machine that is free; see `serve`. Only this module of the folder brings in a web framework.
"""

from mcp_anyrev.serving.serve import serve as serve

"""The generator: specs and templates in, the package `mcp_revisions` out.

load (`located`, `specs`) → check → decide → render → write. Rendering is pure: the same inputs give the same bytes.
"""

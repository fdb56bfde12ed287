"""The generator: specs and templates in, the package `mcp_revisions` out.

load (`reading`, `schemas`, `inventory`) → check (`canonical`, `projection`, `templates`, `specification`) → decide and render (`rendering`,
`models`, `adapters`, `differences`, `documents`) → write (`writing`). Rendering is pure: the same inputs give the same bytes. `vectors` scaffolds
test vectors, `editing` changes `specs/` instead, and `commands` shows what was done. Imports run in this order, and no two folders import each
other.
"""

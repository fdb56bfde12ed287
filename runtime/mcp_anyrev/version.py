"""Which version of this package is installed, as its metadata says."""

from importlib.metadata import version

__version__ = version("mcp-anyrev")

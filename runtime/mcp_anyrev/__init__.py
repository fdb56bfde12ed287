"""Write MCP handlers once; serve and call every published revision of the protocol, each in exactly its own wire form.

Rule: importing this package imports nothing else of it. A public name brings in what it needs when it is first used. The names are
listed once, in `__init__.pyi`, where type checkers look, too.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

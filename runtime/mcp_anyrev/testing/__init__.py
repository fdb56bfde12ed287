"""What makes an application easy to test.

Rule: what runs here is what runs in production: the same core, over the same transport. Importing this imports nothing else of it; the
names are listed once, in `__init__.pyi`.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

# The public names, and where they are. `__init__.py` reads this file, so nothing but such imports can stand here.

from .in_memory import client as client
from .in_memory import replaying_client as replaying_client
from .over_http import serve as serve
from .replaying import DoesNotBearReplay as DoesNotBearReplay
from .replaying import ReplayingClient as ReplayingClient

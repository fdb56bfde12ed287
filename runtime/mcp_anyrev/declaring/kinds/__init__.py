"""The kinds of things that a registry offers: one descriptor each, and everything else loops over them.

Rule: what makes a kind what it is stands in its descriptor and nowhere else. One made at run time is as good as one of these.
"""

from mcp_anyrev.declaring.kinds.completions import COMPLETIONS
from mcp_anyrev.declaring.kinds.kind import Announcement, Changed, Kind, Listing, Offered, Use, View, Withheld
from mcp_anyrev.declaring.kinds.prompts import PROMPTS
from mcp_anyrev.declaring.kinds.resources import RESOURCES
from mcp_anyrev.declaring.kinds.tools import TOOLS

__all__ = [
    "BUILT_IN",
    "COMPLETIONS",
    "PROMPTS",
    "RESOURCES",
    "TOOLS",
    "Announcement",
    "Changed",
    "Kind",
    "Listing",
    "Offered",
    "Use",
    "View",
    "Withheld",
]

BUILT_IN: tuple[Kind, ...] = (TOOLS, RESOURCES, PROMPTS, COMPLETIONS)
"""The kinds that the protocol itself has, in the order in which they are spoken of."""

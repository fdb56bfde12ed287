"""A tool that asks before it goes ahead, and one that asks nothing.

Rule: the smallest application that shows asking; the same handlers serve every revision.

    mcp-anyrev serve examples/gates.py:registry
"""

from mcp_anyrev import Exchange, Registry, elicit
from pydantic import BaseModel

registry = Registry("gates", "1.0")


class Nothing(BaseModel):
    pass


@registry.tool
async def gate(args: Nothing, ex: Exchange) -> str:
    """One confirmation."""
    return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"


@registry.tool
async def plain(args: Nothing) -> str:
    """Asks nothing."""
    return "fine"

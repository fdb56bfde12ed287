"""What `mcp-anyrev skills` calls: one skill, from code."""

from __future__ import annotations

from mcp_anyrev import Registry, Skills

registry = Registry("skilled", "1.0")
skills = Skills()
skills.add(
    "drinks/tea",
    {
        "SKILL.md": "---\nname: tea\ndescription: How to make tea.\n---\nSee water.md.\n",
        "notes/water.md": "Boil it.\n",
    },
)
registry.extension(skills)

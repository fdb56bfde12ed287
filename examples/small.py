"""A tool, a resource and a prompt: one of each, and nothing more.

Rule: what is declared here is all that there is; how it is served is said elsewhere.

    mcp-anyrev serve examples/small.py:registry
"""

from mcp_anyrev import Registry, ToolError
from pydantic import BaseModel

registry = Registry("library", "1.0", instructions="Find a book, then read its card.")

SHELF = {"austen": "Emma", "lem": "Solaris", "woolf": "Orlando"}


class Book(BaseModel):
    author: str
    title: str


@registry.tool(title="Find a book", read_only=True)
def find(author: str) -> Book:
    """The book of an author."""
    if author not in SHELF:
        raise ToolError(f"there is no book of {author}; authors: {', '.join(SHELF)}")
    return Book(author=author, title=SHELF[author])


@registry.resource("library://cards/{author}", mime_type="text/plain")
def card(author: str) -> str:
    """The card of a book."""
    return f"{author}: {SHELF.get(author, 'nothing')}"


@registry.prompt(title="Recommend a book")
def recommend(author: str) -> str:
    """Asks for a recommendation."""
    return f"I liked {author}. What else should I read?"


@registry.completion("author", prompt="recommend")
@registry.completion("author", template="library://cards/{author}")
def complete_author(value: str) -> list[str]:
    return [author for author in SHELF if author.startswith(value)]

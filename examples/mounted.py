"""A server for models inside a web application: the same books, for people below /books and for models at /mcp.

Rule: the web framework is the application's own choice. What it mounts is one ASGI application, which needs none.

    uvicorn --app-dir examples mounted:app
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from mcp_anyrev import Registry, asgi
from starlette.routing import Route

registry = Registry("library", "1.0")

SHELF = {"austen": "Emma", "lem": "Solaris", "woolf": "Orlando"}


@registry.tool(read_only=True)
def find(author: str) -> dict[str, str]:
    """The books of all authors whose name has this in it."""
    return {name: title for name, title in SHELF.items() if author in name}


mcp = asgi(registry)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Ends the open streams of the mounted application, which its host would not tell that the end has come."""
    yield
    await mcp.close()


app = FastAPI(lifespan=lifespan)
app.router.routes.append(Route("/mcp", mcp))  # a mount would answer at /mcp/ and send clients there first


@app.get("/books/{author}")
def book(author: str) -> dict[str, str | None]:
    return {"title": SHELF.get(author)}

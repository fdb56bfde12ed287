"""A server for models inside a web application: the same books, for people below /books and for models at /mcp.

Rule: the web framework is the application's own choice. What it mounts is one ASGI application, which needs none.

    uvicorn --app-dir examples mounted:app
"""

from fastapi import FastAPI
from mcp_anyrev import Registry, Server

registry = Registry("library", "1.0")

SHELF = {"austen": "Emma", "lem": "Solaris", "woolf": "Orlando"}


@registry.tool(read_only=True)
def find(author: str) -> dict[str, str]:
    """The books of all authors whose name has this in it."""
    return {name: title for name, title in SHELF.items() if author in name}


server = Server(registry)

app = FastAPI(lifespan=server.lifespan)  # starts the server, and ends its open streams when the application ends
app.router.routes.extend(server.starlette_routes("/mcp"))


@app.get("/books/{author}")
def book(author: str) -> dict[str, str | None]:
    return {"title": SHELF.get(author)}

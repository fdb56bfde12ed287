"""How a request is answered: what a revision gets of the registry, and what a handler can do meanwhile."""

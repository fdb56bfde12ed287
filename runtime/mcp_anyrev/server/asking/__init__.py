"""How a question reaches the person or the model behind the client, and what counts as an answer."""

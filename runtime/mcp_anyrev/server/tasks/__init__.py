"""Tasks: calls that are answered later, from the moment they are until somebody has their result."""

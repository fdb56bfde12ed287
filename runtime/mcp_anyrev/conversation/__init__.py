"""One peer and one revision: messages in and out, and what is in flight."""

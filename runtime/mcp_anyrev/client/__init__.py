"""Calling a server: what a client says, in whichever revision was agreed on, and what it makes of what comes back."""

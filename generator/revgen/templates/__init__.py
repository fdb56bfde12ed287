"""Templates: their Jinja environments, and what a macro may be.

Rule: that macros and answers fit is checked before anything is rendered.
"""

"""Models: typed messages of one schema, and the packages that give them by name.

Rule: a schema in, a text out.
"""

"""Reading: YAML with a place for every node, models of what may stand there, the types of scalars, and problems that are collected before
anything stops.

Rule: nothing here knows what a file means.
"""

"""Editing: how a revision comes into `specs/` and goes out of it again.

Rule: all texts are made before the first file is touched, and no byte changes that does not belong to the revision.
"""

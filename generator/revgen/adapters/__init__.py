"""Adapters: one class for each revision, the protocol that all of them follow, and the selection of one.

Rule: everything is decided before a skeleton loops over it.
"""

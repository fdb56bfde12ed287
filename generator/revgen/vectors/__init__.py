"""Scaffolds test vectors: what a revision says on the wire, as data, for a person to look through.

Rule: what is written here is judged by the published schema alone and never by what was generated; it is marked, committed, and no test
makes it a second time.
"""

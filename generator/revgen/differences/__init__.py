"""Differences: what changed between two revisions, as data and in words.

Rule: it is read off the specification; no difference is written down anywhere.
"""

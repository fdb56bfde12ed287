"""Schemas: what the published revisions say, and how to read it: normal form, corrections, shapes, roles, methods.

Rule: a schema is looked at by itself or beside another; no answer of the inventory is known here.
"""

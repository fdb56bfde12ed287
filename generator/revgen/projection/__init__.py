"""Projection: what of each canonical value one revision carries, as data.

Rule: schemas are compared place by place; a template words what comes out.
"""

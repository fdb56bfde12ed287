"""The specification: everything that goes in, loaded, checked and joined.

Rule: what comes after this room finds no fault of an input.
"""

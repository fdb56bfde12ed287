"""Rendering: how a text becomes a generated file: skeleton, layout, header.

Rule: nothing here knows what a file says.
"""

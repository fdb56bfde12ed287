"""Writers: one module for each kind of generated file.

Rule: a writer takes the checked specification and gives outputs; it reads nothing else and writes nothing.
"""

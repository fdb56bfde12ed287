"""Writing: everything rendered, compared with what is there, and written.

Rule: a file is replaced as a whole or left as it is.
"""

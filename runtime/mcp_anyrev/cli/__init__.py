"""The command line.

Rule: data on stdout, everything else on stderr; a command imports what it needs when it runs.
"""

"""The commands of `revgen`, one a module, each with a click command named `command`.

Rule: a command reads its options, calls what does the work, and shows the result; it decides nothing about specs.
"""

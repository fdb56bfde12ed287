"""What each revision gets of an application, and why.

Rule: found out by asking the adapters, as a server does; nothing here knows what a revision is like.
"""

"""The inventory: what varies and no schema says, with its sources, and which adapter answers a message.

Rule: what a spec says is checked where it is read, and says its place.
"""

"""What a server does with messages: methods, what each revision is offered, sessions, subscriptions, and the three ways to ask.

Rule: no I/O and no revision in here; adapters know the wire.
"""

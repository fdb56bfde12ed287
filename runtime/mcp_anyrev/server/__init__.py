"""Serving: what is offered (`registry`), how a request is answered (`core`, `endpoint`), how a person is asked (`exchange`).

Rule: no I/O and no revision in here. Transports hand in a head and a body and send what comes out; adapters know the wire.
"""

"""Serving, a folder for each part: what is offered (`declaring`), how a request is answered (`answering`), how a question reaches
somebody (`asking`), what outlives an answer (`streaming`), who may come in (`admission`), and HTTP without a socket (`http`).

Rule: no I/O and no revision in here. Transports hand in a head and a body and send what comes out; adapters know the wire.
"""

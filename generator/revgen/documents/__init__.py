"""Documents: what people read, on the terminal, in Markdown and in HTML.

Rule: a document has no answer of its own, and says where each stands.
"""

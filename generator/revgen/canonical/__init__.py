"""The canonical vocabulary: merged from all schemas by the rules of `specs/canonical.yaml`.

Rule: it is computed; what no rule settles is a complaint.
"""

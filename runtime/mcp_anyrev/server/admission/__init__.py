"""Who may come in: origins, principals, tokens."""

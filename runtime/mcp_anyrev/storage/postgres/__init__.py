"""A store and a hub on PostgreSQL, for workers on any machines.

Rule: what changes anything is one function of `schema.sql`, which the server runs as one step and by its own clock. `connection` brings
them there, `store` and `hub` say what the protocols say, `backend` listens.
"""

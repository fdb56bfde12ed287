"""A store and a hub on Valkey or Redis, for workers on any machines.

Rule: what changes several keys is one script (`store.lua`, `hub.lua`), which the server runs as one step and by its own clock; `scripts`
brings them there, `store` and `hub` say what the protocols say, `backend` has the connections. All keys of an application have one
hash tag, so that they are on one node.
"""

"""Store and hub in one file, for the workers of one machine.

Rule: what changes anything is one transaction (`store`, `hub`), which one thread of this process runs (`database`); `schema.sql` says what
is kept, and keeps count of it. `location` says which file a URL names.
"""

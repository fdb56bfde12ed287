"""Shells around the server: each moves heads and bodies between a transport and the core, and decides nothing."""

"""The client's half of HTTP: what is posted, and what is read of answers and streams, without a socket."""

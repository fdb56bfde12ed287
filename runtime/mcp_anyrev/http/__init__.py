"""HTTP without a socket: the head and the body of a request in, what goes back out; and the other way round in `client`."""

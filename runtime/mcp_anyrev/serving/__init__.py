"""Where the server, HTTP and transports are put together."""

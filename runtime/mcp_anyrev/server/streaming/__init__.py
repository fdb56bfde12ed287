"""What outlives a single answer: streams, changes, calls in flight."""

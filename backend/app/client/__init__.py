"""For programs that use a running service; imports nothing of the service but its vocabulary."""

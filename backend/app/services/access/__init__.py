"""API tokens, the agents of this machine, and the state of the service."""

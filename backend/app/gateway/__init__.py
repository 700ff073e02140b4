"""The model gateway: relays model requests of agents, meters and bounds them, and keeps the keys."""

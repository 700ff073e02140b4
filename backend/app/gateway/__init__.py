"""The model gateway: relays agents' model requests, measures and limits them, and keeps the keys."""

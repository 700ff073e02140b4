"""Tokens, and the state of the service."""

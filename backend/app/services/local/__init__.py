"""Judges local directories without a server or a database."""

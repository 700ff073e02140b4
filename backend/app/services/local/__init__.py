"""Judging without a server or a database."""

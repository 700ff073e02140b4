"""Runs untrusted programs in a sandbox."""

"""Use cases with transactions."""

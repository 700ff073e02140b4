"""Held-out tests: tests that no agent sees, added to an attempt only for judging."""

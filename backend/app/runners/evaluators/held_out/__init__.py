"""Held-out tests: tests that no agent sees, laid over an attempt in judging only."""

"""Use cases; each opens the transactions that it needs."""

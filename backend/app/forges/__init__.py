"""Forges, where teams keep issues and pull requests: the operator's file, a port, and its adapters."""

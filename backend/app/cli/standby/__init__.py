"""A process that stands by for hooks, so that they need not import what evaluates."""

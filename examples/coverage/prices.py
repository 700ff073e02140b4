"""Prices in cents."""


def gross(net: int, percent: int) -> int:
    """Net price plus tax, rounded half up."""
    return net + (net * percent + 50) // 100

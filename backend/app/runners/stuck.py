"""Detects an agent that is stuck between attempts: it fails in the same way twice without a change. Pure.

`agents/stuck.py` detects the same within one attempt.
"""

from app.runners.facts import History


def is_stuck(history: History) -> bool:
    """Return True if the last attempt failed exactly as the one before it and changed nothing."""
    if len(history.attempts) < 2:
        return False
    before, last = history.attempts[-2:]
    same_failure = last.fingerprint is not None and last.fingerprint == before.fingerprint
    return same_failure and last.tree is not None and last.tree == before.tree

"""How long tests wait for what must happen: long enough for a machine that does twenty other things."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300.0
"""Seconds. A test that passes never waits so long; one that fails says so in the end."""

UNHURRIED = {f"EVALUATOR_{what}_TIMEOUT": str(PATIENCE) for what in ("LINT", "TYPE_CHECK", "TEST")}
"""Settings for services of tests that are not about the time limits of evaluators."""


def until(holds: Callable[[], Any]) -> Any:
    """Ask until the answer is true, and return it.

    Raises:
        AssertionError: it did not become true in time.
    """
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.05)
    raise AssertionError(f"not true within {PATIENCE:.0f} s")

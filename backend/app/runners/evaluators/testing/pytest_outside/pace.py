"""Decides how long the judge's run is worth its time."""

from __future__ import annotations

from pathlib import Path

from .clock import monotonic

PATIENCE = 10.0
"""Seconds for one answer of the other process, and for a run that brings no evidence."""

LATE = "it takes too long there"
"""Why a test that went on long after the end of the run is no evidence."""

_TRIED = 20
_WORTH = 0.2


class JudgePace:
    """Decides when to stop because the run is not worth the time.

    Args:
        seconds: after these the run ends at the next test.
        stop: a file that ends the run once it exists.
    """

    def __init__(self, seconds: float, stop: Path) -> None:
        self._began = monotonic()
        self._seconds = seconds
        self._stop = stop
        self._done = self._carried = 0
        self._next_look = self._began
        self._over_at: float | None = None

    def count(self, *, carried: bool) -> None:
        """Count a test; `carried` is True if it is evidence."""
        self._done += 1
        self._carried += carried

    def is_over(self) -> bool:
        """Return True if the time is up, or has brought almost no evidence."""
        spent = monotonic() - self._began
        idle = spent > PATIENCE and self._done >= _TRIED and self._carried < _WORTH * self._done
        return idle or spent > self._seconds or self._stop.exists()

    def is_late(self) -> bool:
        """Return True if a test still goes on some time after the run was to end. It looks once a second."""
        now = monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + 1
        if self._over_at is None and self.is_over():
            self._over_at = now
        return self._over_at is not None and now - self._over_at > PATIENCE

"""The signal with which the judge's process ends a test that does nothing any more."""

import signal

_FIRST = getattr(signal, "SIGRTMIN", None)

STOP_TEST: int = signal.SIGUSR2 if _FIRST is None else _FIRST + 9
"""A real-time signal, which neither programs nor their tests use. macOS has none; no run is watched there."""

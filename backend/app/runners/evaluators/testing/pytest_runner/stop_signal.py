"""The signal with which the judge's process ends a test that does nothing any more."""

import signal

STOP_TEST = signal.SIGRTMIN + 9
"""One that neither programs nor their tests use."""

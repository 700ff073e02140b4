"""A clock that tests do not set."""

import time

_clock_gettime, _CLOCK = time.clock_gettime, time.CLOCK_MONOTONIC


def monotonic() -> float:
    """Return seconds, as `time.monotonic` does, which libraries such as time-machine change in place."""
    return _clock_gettime(_CLOCK)

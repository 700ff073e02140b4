"""Keeps looks at the surroundings of tests a small part of the run's time."""

from .clock import monotonic

_SHARE = 0.02


class LookingTime:
    """The time that one kind of look may take.

    Args:
        free: seconds that looks may take however short the run is.
    """

    def __init__(self, free: float = 0.0) -> None:
        self._free = free
        self._began = monotonic()
        self._spent = 0.0
        self._since = self._began

    @property
    def is_left(self) -> bool:
        """Whether there may be another look."""
        return self._spent <= self._free + _SHARE * (monotonic() - self._began)

    def __enter__(self) -> None:
        self._since = monotonic()

    def __exit__(self, *raised: object) -> None:
        self._spent += monotonic() - self._since

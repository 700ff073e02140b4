"""Keeps pytest's own open files away from the low descriptors that programs use by number.

A program that a shell starts may be told to write to descriptor 8 or 9, and a test of it closes these. If
pytest's own files had those numbers, pytest would break at its end.
"""

import os

_FIRST = 20


class LowDescriptors:
    """Occupies the low descriptors until pytest has opened its own files."""

    def __init__(self) -> None:
        self._held: list[int] = []
        while (number := os.open(os.devnull, os.O_RDONLY)) < _FIRST:
            self._held.append(number)
        os.close(number)

    def pytest_sessionstart(self) -> None:
        """Free them for the tests."""
        self.free()

    def free(self) -> None:
        """Close what is still held."""
        while self._held:
            os.close(self._held.pop())

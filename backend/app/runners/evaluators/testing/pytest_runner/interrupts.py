"""Ends a test that does nothing any more when the judge's process asks for it, so that later tests run."""

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .limits import CutError, CutTeardownError
from .stop_signal import STOP_TEST

_WHY = "it did not end"


class CutSetupError(pytest.fail.Exception):
    """The set-up of a test did not end. pytest keeps it for the other tests that need the same fixture."""


class Interrupts:
    """The pytest plug-in that ends the running test by a signal, once nothing has happened for a long time.

    Python runs the handler in the main thread, between two instructions or inside a call that waits. A call
    into C that never returns is not interrupted. Then the judge's process ends the whole run.

    Attributes:
        cut: ids of the tests that were ended.
    """

    def __init__(self) -> None:
        self.cut: set[str] = set()
        self._running = ""
        self._raised: type[BaseException] = CutError
        signal.signal(STOP_TEST, self._handle)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> "Iterator[None]":
        """Let a signal end the set-up of a test. As the innermost wrapper, it interrupts no plug-in."""
        with self._during(item, CutSetupError):
            yield

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> "Iterator[None]":
        """Let a signal end the test itself."""
        with self._during(item, CutError):
            yield

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> "Iterator[None]":
        """Let a signal end what comes after a test. pytest goes on with the rest of that."""
        with self._during(item, CutTeardownError):
            yield

    @contextmanager
    def _during(self, item: pytest.Item, raised: "type[BaseException]") -> "Generator[None]":
        self._running, self._raised = item.nodeid, raised
        try:
            yield
        finally:
            self._running = ""

    def _handle(self, _number: int, _frame: Any) -> None:
        if self._running:
            self.cut.add(self._running)
            raise self._raised(_WHY)

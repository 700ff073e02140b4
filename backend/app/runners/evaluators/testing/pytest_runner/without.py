"""Leaves out named tests, and blames no other test for what they would have done."""

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import pytest


class Without:
    """Leaves out tests that do not run for lack of time.

    What a class or module does at its end may rely on them, such as removing the file that one of them
    writes. So what the test before shares with one that is left out may fail to end, as in the run that
    found out how long the tests take. What belongs to the test itself may not.

    Args:
        names: ids of the tests.
    """

    def __init__(self, names: "Collection[str]") -> None:
        self._names = set(names)
        self._following: dict[pytest.Item, pytest.Item] = {}

    def leave_out(self, items: "list[pytest.Item]") -> None:
        """Remove the tests from those that run."""
        for place, item in enumerate(items[:-1]):
            following = items[place + 1]
            if following.nodeid in self._names and item.nodeid not in self._names:
                self._following[item] = following
        items[:] = [item for item in items if item.nodeid not in self._names]

    def tear_down_own(self, item: pytest.Item) -> None:
        """Tear down what a test does not share with one that is left out after it."""
        state: Any = getattr(item.session, "_setupstate", None)
        if item in self._following and hasattr(state, "teardown_exact"):
            state.teardown_exact(self._following[item])

    def tear_down_shared(self, item: pytest.Item, following: "pytest.Item | None") -> None:
        """Tear down the rest, whether that works or not."""
        state: Any = getattr(item.session, "_setupstate", None)
        if item in self._following and hasattr(state, "teardown_exact"):
            with suppress(Exception, pytest.fail.Exception, pytest.skip.Exception):
                state.teardown_exact(following)

"""Tells which tests a mark skips, in a run that only lists tests."""

from collections.abc import Callable
from typing import Any

import pytest
from _pytest import skipping

_evaluate: "Callable[[pytest.Item], Any] | None" = getattr(skipping, "evaluate_skip_marks", None)


def skipped_by_marks(items: "list[pytest.Item]") -> "list[str]":
    """Return the ids of tests that `skip` or a true condition of `skipif` skips.

    Conditions are evaluated as before a test. One that cannot be evaluated counts as false.
    """
    return [each.nodeid for each in items if _is_skipped(each, _evaluate)] if _evaluate else []


def _is_skipped(item: pytest.Item, evaluate: "Callable[[pytest.Item], Any]") -> bool:
    try:
        return bool(evaluate(item))
    except (Exception, pytest.fail.Exception, pytest.skip.Exception):  # noqa: BLE001 - conditions are the tests' own
        return False

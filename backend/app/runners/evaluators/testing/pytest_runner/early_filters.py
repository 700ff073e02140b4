"""Lets pytest start although filters of warnings name classes of the project, which is not importable yet."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from _pytest import config

_NAME = "apply_warning_filters"


class EarlyFilters:
    """Leaves out such filters until the project is on the import path.

    Pytest applies the filters of a project while it loads plug-ins. If they turn warnings into errors, one
    whose class cannot be imported ends pytest.
    """

    def __init__(self) -> None:
        self._apply: Any = getattr(config, _NAME, None)
        if self._apply:
            setattr(config, _NAME, self._apply_importable)

    def _apply_importable(self, config_filters: "Iterable[str]", cmdline_filters: "Iterable[str]") -> None:
        self._apply([each for each in config_filters if _is_importable(each)], cmdline_filters)

    # Called before the one that puts the tree on the import path, as this plug-in is registered later.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self) -> "Iterator[None]":
        """Apply all filters from now on."""
        self.end()
        yield

    def end(self) -> None:
        """Give pytest its function back."""
        if self._apply:
            setattr(config, _NAME, self._apply)


def _is_importable(line: str) -> bool:
    """Return True if the class in a filter such as `error:message:package.Kind` can be imported."""
    category = [*line.split(":"), "", "", ""][2].strip()
    top, dot, _ = category.partition(".")
    try:
        return not dot or top in sys.modules or find_spec(top) is not None
    except ValueError:  # a module that was not imported in the usual way
        return False

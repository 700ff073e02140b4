"""Keeps the ids of tests the same in every run, although each run has its own directory."""

from typing import Any

import pytest


class RowIds:
    """The pytest plug-in that removes the tree's path from ids such as `test_get[/tmp/.../tree/data/1.txt]`.

    The parameters of tests often come from `glob`. A project's own hook goes first.

    Args:
        tree: the tree's path.
    """

    def __init__(self, tree: str) -> None:
        self._inside = f"{tree}/"

    @pytest.hookimpl(trylast=True)
    def pytest_make_parametrize_id(self, val: Any) -> "str | None":
        """Return the id of a text that contains the tree's path. Return None for anything else."""
        if type(val) is str and self._inside in val and val.isascii() and val.isprintable():
            return val.replace(self._inside, "")
        return None

"""Keeps the ids of tests the same in every run, although each run has its own directory."""

from typing import Any

import pytest


class RowIds:
    """The pytest plug-in that removes the tree's path from ids such as `test_get[/tmp/.../tree/data/1.txt]`.

    The parameters of tests often come from `glob`, or contain a text that names the current directory. A
    project's own hook goes first.

    Args:
        tree: the tree's path.
    """

    def __init__(self, tree: str) -> None:
        self._tree = tree

    @pytest.hookimpl(trylast=True)
    def pytest_make_parametrize_id(self, val: Any) -> "str | None":
        """Return the id of a text that contains the tree's path, escaped as by pytest; otherwise None."""
        if type(val) is not str or self._tree not in val:
            return None
        steady = val.replace(f"{self._tree}/", "").replace(self._tree, ".")
        return steady.encode("unicode_escape").decode("ascii")

"""Finds out whether a tree's own classes decide what their objects equal."""

from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.tree_files import small_file

_DEFINES = (b"__eq__", b"total_ordering")


def defines_equality(tree: RunTree | None) -> bool:
    """Return True if a source of a tree defines an equality."""
    if tree is None:
        return False
    names = (name for name in tree.files if name.endswith(".py"))
    return any(each in small_file(tree.files[name] / name) for name in names for each in _DEFINES)

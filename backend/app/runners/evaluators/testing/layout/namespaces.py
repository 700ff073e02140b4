"""Recognises tests that lie in packages of a namespace, such as `src/zope/component/tests`."""

import posixpath
from collections.abc import Collection, Sequence

from app.runners.evaluators.testing.layout.setting import is_test_file

_PACKAGE = "__init__.py"


def are_in_namespaces(names: Collection[str], patterns: Sequence[str], places: Collection[str]) -> bool:
    """Return True if all test files are in packages of namespaces.

    Pytest takes the topmost directory with an `__init__.py` for the root package, and so imports
    `src/zope/component/tests/test_api.py` as `component.tests.test_api`, beside the project's own
    `zope.component`. See https://docs.pytest.org/en/stable/reference/reference.html, on
    `consider_namespace_packages`.

    Args:
        names: files of a tree (POSIX paths).
        patterns: globs of test files.
        places: directories from which modules are imported, without the root.
    """
    known = frozenset(names)
    tests = [name for name in names if name.endswith(".py") and is_test_file(name, patterns)]
    return bool(tests) and all(_is_below_namespace(name, known, places) for name in tests)


def _is_below_namespace(name: str, known: Collection[str], places: Collection[str]) -> bool:
    root = posixpath.dirname(name)
    if f"{root}/{_PACKAGE}" not in known:
        return False
    while f"{root}/{_PACKAGE}" in known:
        root = posixpath.dirname(root)
    return any(root.startswith(f"{place}/") for place in places)

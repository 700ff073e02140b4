"""Determines the test setting of a base, both for protecting it and for laying it over a candidate.

The *test setting* determines which tests exist and what they require. It includes the base's test files and
conftests wherever they are, and everything else in its test directories (helpers, `__init__.py`, data). Test
directories have a name like `tests`, and hold one of these files or a text with doctests. Such texts
elsewhere are documentation, which may change. Files that only the tests use belong to the setting, too (see
`owned`).
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from app.runners.evaluators.testing.layout.owned import owned_by_tests

_CONFTEST = "conftest.py"
_TEST_DIRECTORIES = frozenset({"test", "tests", "unit_tests", "unittests", "spec", "specs"})


def is_test_file(name: str, patterns: Sequence[str]) -> bool:
    """Return True if pytest looks for tests in a file (POSIX path). `patterns` are its `python_files`."""
    filename = posixpath.basename(name)
    return any(fnmatchcase(name if "/" in pattern else filename, pattern) for pattern in patterns)


def is_test_support(name: str, patterns: Sequence[str]) -> bool:
    """Return True if a file (POSIX path) can affect which tests exist."""
    return posixpath.basename(name) == _CONFTEST or is_test_file(name, patterns)


def directories_above(name: str) -> Iterator[str]:
    """Yield the directories that contain a file, without the tree itself."""
    while name := posixpath.dirname(name):
        yield name


class TestSetting:
    """Decides whether a file belongs to the setting, be it the base's or one that a candidate adds.

    Attributes:
        directories: the test directories as POSIX paths.

    Args:
        patterns: globs of test files.
        base_names: the base's files as POSIX paths.
        doctests: globs of texts with doctests.
        owned: files that only the tests use.
    """

    __test__ = False  # pytest would treat a class with this name as one with tests

    def __init__(
        self,
        patterns: Sequence[str],
        base_names: Iterable[str],
        doctests: Sequence[str] = (),
        owned: Collection[str] = (),
    ) -> None:
        self._patterns = patterns
        self._owned = frozenset(owned)
        self.directories = frozenset(
            above
            for name in base_names
            if is_test_support(name, patterns) or is_test_file(name, doctests)
            for above in directories_above(name)
            if posixpath.basename(above) in _TEST_DIRECTORIES
        )

    def __contains__(self, name: str) -> bool:
        if name in self._owned or is_test_support(name, self._patterns):
            return True
        return not self.directories.isdisjoint(directories_above(name))


def setting_of(
    root: Path, patterns: Sequence[str], base_names: Sequence[str], doctests: Sequence[str] = ()
) -> TestSetting:
    """Return the test setting of a base, with the files that only its tests use.

    Args:
        root: the base.
        patterns: globs of test files.
        base_names: its files as POSIX paths.
        doctests: globs of texts with doctests.
    """
    by_name = TestSetting(patterns, base_names, doctests)
    owned = owned_by_tests(root, base_names, by_name.__contains__)
    return TestSetting(patterns, base_names, doctests, owned)

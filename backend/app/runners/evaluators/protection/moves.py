"""Tells test files that only moved to another place where pytest finds them."""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from app.runners.evaluators.protection.tool_settings import Read, UnreadableSettingsError, Value, settings_in
from app.runners.evaluators.testing.layout.setting import directories_above

# Directories into which pytest does not look by default.
_NOT_SEARCHED = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
_NARROWING = ("--ignore", "--deselect", "-k", "-m", "-p", "-c", "--rootdir", "--confcutdir")
_IGNORING = (b"collect_ignore", b"ignore_collect", b"collection_modifyitems", b"collect_file")
_CONFTEST = "conftest.py"


class MovedTests:
    """Finds the new places of a base's test files.

    A file may move within its test directory, as far as the settings of the base let pytest find it there. A
    `conftest.py` may not, because its place decides what it affects. No move is excused if a `conftest.py`
    decides which files are collected, or if the candidate adds one above the new place.

    Args:
        base: files of the base.
        candidate: files of the candidate.
        directories: the test directories.
        patterns: globs of test files.
        read: returns the content of a file of the base by its path.
    """

    def __init__(
        self,
        base: Collection[str],
        candidate: Collection[str],
        directories: AbstractSet[str],
        patterns: Sequence[str],
        read: Read,
    ) -> None:
        self._added = sorted(set(candidate) - set(base))
        self._directories, self._patterns = directories, patterns
        self._new_conftests = {_parent(each) for each in self._added if _is_conftest(each)}
        self._paths = _searched(read)
        conftests = (read(each) or b"" for each in base if _is_conftest(each))
        if any(word in text for text in conftests for word in _IGNORING):
            self._paths = None

    def places(self, name: str) -> list[str]:
        """Return the files that may be a deleted test file in its new place."""
        filename = PurePosixPath(name).name
        is_test = any(fnmatchcase(filename, each) for each in self._patterns)
        if self._paths is None or not is_test or _is_conftest(name):
            return []
        around = self._directories & set(directories_above(name))
        same_name = [each for each in self._added if PurePosixPath(each).name == filename]
        return [
            each
            for each in same_name
            if around & set(directories_above(each)) and self._is_searched(each) and self._is_unaffected(each)
        ]

    def _is_searched(self, name: str) -> bool:
        parts = PurePosixPath(name).parts[:-1]
        if any(fnmatchcase(part, each) for part in parts for each in _NOT_SEARCHED):
            return False
        return not self._paths or any(name.startswith(f"{each}/") for each in self._paths)

    def _is_unaffected(self, name: str) -> bool:
        return self._new_conftests.isdisjoint(directories_above(name))


def _searched(read: Read) -> tuple[str, ...] | None:
    """Return the directories in which pytest looks; none for everywhere, and None if it is unclear."""
    try:
        settings = settings_in(read).get("pytest")
    except UnreadableSettingsError:
        return None
    if settings is None:
        return ()
    values = settings.values
    options: Value = values.get("addopts", ())
    paths: Value = values.get("testpaths", ())
    if "norecursedirs" in values or any(each in str(options) for each in _NARROWING):
        return None
    if not isinstance(paths, tuple) or any("*" in each for each in paths):
        return None
    return tuple(each.removeprefix("./").rstrip("/") for each in paths if each not in (".", "./"))


def _is_conftest(name: str) -> bool:
    return PurePosixPath(name).name == _CONFTEST


def _parent(name: str) -> str:
    return str(PurePosixPath(name).parent)

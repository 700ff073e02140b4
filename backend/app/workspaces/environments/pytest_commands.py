"""Reads how a project's own commands run pytest: as a program or as a module, and on which directories.

The commands are those of tox, nox, make and of workflows. They are read as text; unusual ones tell nothing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from app.workspaces.environments.commanded import RUNS_TESTS, command_texts

_MODULE = re.compile(r"(?<!\S)[\"']?-m[\"']?,?\s++[\"']?pytest(?![\w.-])")
_PROGRAM = re.compile(
    r"^[ \t]*+(?:- )?(?:run:|script:|commands[ \t]*=)?[ \t]*+"
    r"(?:(?!-m |\S*(?:python|install))[\w.-]+ )*pytest(?=\s|$)"
    r"|(?:&&|;)\s*pytest(?=\s|$)|\(\s*[\"']pytest[\"']",
    re.MULTILINE,
)
"""A command that begins with pytest, perhaps after others that start it, such as `uv run`."""
_OTHER_RUNNERS = re.compile(
    r"-m unittest|\b(?:nosetests|trial|runtests\.py|setup\.py test|manage\.py test|hatch test)\b"
)
_PROCESSES = re.compile(r"(?<!\S)(?:-n|--numprocesses)[ =]?(?:auto|logical|[2-9]|[1-9]\d|[${])")
_KEPT_TOGETHER = re.compile(r"(?<!\S)--dist[ =](?:loadgroup|each|no)(?!\S)")
_POSARGS = re.compile(r"\{posargs(?::([^{}]*))?\}")
_REST = re.compile(r"[^\n&|;#)]*")
_FLAG = re.compile(
    r"-[vqsxlr][\w]*|--(?:verbose|quiet|strict\S*|exitfirst|showlocals|doctest-modules|ff|lf|no-\S+|cov)"
)
"""Options that take no value, at least where a directory follows that holds tests."""
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


def runs_pytest_as_module(tree: Path) -> bool:
    """Return True if the project's commands run its tests by `python -m pytest` only.

    The name of the program is another one then, and code and tests may go by it.
    """
    texts = _texts(tree)
    return not any(map(_PROGRAM.search, texts)) and any(map(_MODULE.search, texts))


def pytest_invocations(tree: Path) -> list[list[str]]:
    """Return the words after each call of pytest in the project's commands."""
    return list(_invocations(_texts(tree)))


def shares_tests(words: Sequence[str]) -> bool:
    """Return True if the words of a call of pytest share its tests among processes by pytest-xdist.

    False where the authors keep tests of several files in one process (`--dist loadgroup`).
    """
    text = " ".join(words)
    return _PROCESSES.search(text) is not None and _KEPT_TOGETHER.search(text) is None


def directories_with_tests(tree: Path) -> tuple[str, ...]:
    """Return the only directories whose tests the project's commands run; none if they may run others.

    At least a third of the tree's test files must be below them: a job for a few tests counts for nothing.

    Args:
        tree: the base.
    """
    texts = _texts(tree)
    if any(map(_OTHER_RUNNERS.search, texts)):
        return ()
    named = [_directories(tree, words) for words in _invocations(texts)]
    if not (named and all(named)):
        return ()
    # Of a directory and one below it, pytest would only collect the latter.
    found = _outermost([place for places in named for place in places])
    files = [path.relative_to(tree) for path in tree.rglob("*.py") if _TEST_FILE.fullmatch(path.name)]
    inside = [each for each in files if any(each.is_relative_to(place) for place in found)]
    return found if inside and 3 * len(inside) >= len(files) else ()


def _outermost(places: Sequence[str]) -> tuple[str, ...]:
    paths = {each: PurePosixPath(each) for each in places}
    return tuple(
        name for name, path in paths.items() if not any(each in path.parents for each in paths.values())
    )


def _texts(tree: Path) -> list[str]:
    joined = (re.sub(r"\\\r?\n", " ", text) for text in command_texts(tree))
    return [text for text in joined if RUNS_TESTS.search(text)]


def _invocations(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words after each call of pytest."""
    for text in texts:
        for found in (*_PROGRAM.finditer(text), *_MODULE.finditer(text)):
            rest = _POSARGS.sub(lambda each: each.group(1) or "", text[found.end() :][:2000])
            words = _REST.match(rest)
            yield [each.strip("\"',") for each in words.group().split()] if words else []


def _directories(tree: Path, words: Sequence[str]) -> list[str]:
    """Return the directories among the words of a call; none if it names none, or may run other tests."""
    found: list[str] = []
    before = ""
    for word in words:
        if word and not word.startswith("-") and (not before.startswith("-") or _FLAG.fullmatch(before)):
            place = PurePosixPath(word)
            if place.is_absolute() or ".." in place.parts or not place.parts or not (tree / place).is_dir():
                return []
            found.append(place.as_posix())
        before = word if "=" not in word else ""
    return found

"""Versions of a tree's test files, and the trees that hold them."""

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from app.runners.evaluators.testing.counter_tests.doctest_sites import read_doctests
from app.runners.evaluators.testing.counter_tests.drawing import Unit, WrongExpectation, rewritten
from app.runners.evaluators.testing.counter_tests.reading import TestFile, read_test_file
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import RunReport


@dataclass(frozen=True, slots=True)
class Version:
    """Test files for one run.

    Attributes:
        changes: the wrong expectations in them.
        texts: the files by name; no other test file is run.
        data: data files of the tests by name, with wrong expectations.
        functions: ids of the test functions to run; None means all.
    """

    changes: tuple[WrongExpectation, ...]
    texts: Mapping[str, bytes]
    data: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    functions: frozenset[str] | None = None

    def restricted(self, names: Collection[str]) -> "Version":
        """Return a version with only some of the files."""
        texts = {name: text for name, text in self.texts.items() if name in names}
        return replace(self, texts=texts)


def read_beside(tree: RunTree, files: Iterable[str]) -> dict[str, TestFile]:
    """Read the modules of some directories that the candidate did not write. Unreadable files are left out.

    Args:
        tree: the tree that runs.
        files: a file of each of the directories.
    """
    directories = set(map(posixpath.dirname, files))
    names = [name for name in sorted(tree.trusted) if posixpath.dirname(name) in directories]
    found = [_read(tree.files[name] / name, name) for name in names if name.endswith(".py")]
    return {each.name: each for each in found if each is not None}


def read_test_files(
    tree: RunTree, plain: RunReport, chance: Random, read: Mapping[str, TestFile]
) -> dict[str, TestFile]:
    """Read the test files of a run, and modules beside them, that the candidate did not write.

    Sources with doctests are read, too. Unreadable files are left out.

    Args:
        tree: the tree that ran.
        plain: the report of that run.
        chance: draws wrong outputs for doctests.
        read: modules that `read_beside` has read already.
    """
    known = set(map(posixpath.dirname, read))
    others = [name for name in map(file_of, plain.ids) if posixpath.dirname(name) not in known]
    found = {**read, **read_beside(tree, others)}
    return {**_doctests(tree, plain, chance, found), **found}


def _doctests(tree: RunTree, plain: RunReport, chance: Random, known: Collection[str]) -> dict[str, TestFile]:
    names: dict[str, list[str]] = defaultdict(list)
    for test in plain.ids:
        name, _, rest = test.partition("::")
        if name in tree.files and name not in known and name.endswith(".py"):
            names[name].append(rest)
    files = [read_doctests(name, _content(tree, name), tests, chance) for name, tests in names.items()]
    return {each.name: each for each in files if each is not None}


def _content(tree: RunTree, name: str) -> bytes:
    try:
        return tree.texts[name] if name in tree.texts else (tree.files[name] / name).read_bytes()
    except OSError:
        return b""


def _read(path: Path, name: str) -> TestFile | None:
    try:
        return read_test_file(name, path.read_bytes())
    except OSError:
        return None


def changed_version(
    files: Sequence[TestFile],
    changes: Sequence[WrongExpectation],
    run: Sequence[Unit] | None,
    comment: str,
) -> Version:
    """Return a version with wrong expectations. Files that could no longer be parsed are left out.

    An unchanged file gets the comment, too, so that a difference from the usual file reveals nothing.

    Args:
        files: the files.
        changes: the wrong expectations in them.
        run: the functions to run; None means all. Leaving functions out saves time, and shows that this is no
            usual run.
        comment: added to each file.
    """
    texts: dict[str, bytes] = {}
    wanted = None if run is None else {(each.file.name, each.function.name) for each in run}
    for file in files:
        of_file = [each for each in changes if each.unit.file is file]
        functions = file.functions.items() if wanted is not None else ()
        idle = [each for name, each in functions if wanted is None or (file.name, name) not in wanted]
        text = rewritten(file, of_file, idle)
        if text is not None:
            texts[file.name] = _with_comment(text, comment)
    data = {name: text for change in changes for name, text in change.texts.items()}
    # Not every test comes from a function whose text can be left out; some are made by other functions.
    ids = None if run is None else frozenset(function_of(test) for each in run for test in each.tests)
    return Version(tuple(changes), texts, data, ids)


def touched_version(files: Sequence[TestFile], comment: str) -> Version:
    """Return a version with the same meaning and an added comment."""
    return Version((), {each.name: _with_comment(each.source.content, comment) for each in files})


def _with_comment(content: bytes, comment: str) -> bytes:
    return content.rstrip() + f"\n# {comment}\n".encode()


def write_trees(tree: RunTree, versions: Sequence[Version], place: Path) -> list[RunTree]:
    """Return a tree for each version, with its files written below a directory."""
    return [_written(tree, each, place / str(number)) for number, each in enumerate(versions)]


def _written(tree: RunTree, version: Version, place: Path) -> RunTree:
    texts = {**version.data, **version.texts}
    for name, text in texts.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    present = {name: place for name in texts if name in tree.files}
    others = {name: text for name, text in tree.texts.items() if name not in present}
    return replace(tree, files={**tree.files, **present}, texts=others, only=frozenset(version.texts))

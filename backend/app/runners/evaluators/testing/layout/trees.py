"""Builds the trees of test runs: the candidate's code with the base's tests, or the unchanged candidate.

For the base's tests,

- the base's *test setting* (see `setting`) replaces whatever the candidate made of it;
- the candidate's additions to it are removed, so that no new conftest, helper or data file affects them. The
  same goes for files that Python or pytest would load by themselves (`sitecustomize`, `.pth`, `*.dist-info`),
      and
  for modules that would replace Python's own in the processes that tests start (see `shadowing`).

The tests that the candidate added or changed run in the candidate's tree, with its own conftests and helpers.
The candidate may change opened paths: they are not replaced, and a changed test file among them counts as its
own.
"""

import filecmp
import os
import posixpath
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.runners.evaluators.protection.rules import matches
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.testing.layout.config import PytestSettings
from app.runners.evaluators.testing.layout.doctests import runs_doctests, with_base_doctests
from app.runners.evaluators.testing.layout.setting import directories_above, is_test_file, setting_of
from app.runners.evaluators.testing.layout.shadowing import stand_ins, starts_processes
from app.runners.evaluators.testing.layout.written import pinned_modules
from app.runners.evaluators.tree_files import tree_files
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.paths import leaves_tree

_LOADED_UNASKED = frozenset({"sitecustomize.py", "usercustomize.py"})
_METADATA = (".dist-info", ".egg-info")
_COMPILED = (".pyc", ".pyo")


@dataclass(frozen=True, slots=True)
class RunTree:
    """The files of one run.

    Attributes:
        files: POSIX paths relative to the tree, each with the tree from which it is taken.
        trusted: those that the candidate did not write.
        only: the test files to run; None means all.
        elsewhere: test files that another process runs.
        pinned: top-level modules that no file of the tree may replace if the interpreter has them.
        texts: files with this content instead of that in the tree from which they are taken.
        watched: files whose lines are recorded as they run.
        is_own: whether these are tests of the candidate, so that some of its options count; see
            `own_options`.
    """

    files: Mapping[str, Path]
    trusted: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    elsewhere: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    watched: frozenset[str] = frozenset()
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The runs for a candidate and its base.

    Attributes:
        base_tests: the base's test files that are laid over, without conftests.
        base_sources: the base's Python files that are not part of its test setting.
        laid_over: files of the test setting that the candidate had changed or removed.
        own_tests: test files that the candidate added or changed.
        base_run: for the base's tests; None if it has none.
        own_run: for the candidate's own tests; None if it has none.
        doctests: sources that run with the base's docstrings, because their own require something else.
        added: files that the candidate added to the test setting, without test files.
    """

    base_tests: tuple[str, ...]
    base_sources: tuple[str, ...]
    laid_over: tuple[str, ...]
    own_tests: tuple[str, ...]
    base_run: RunTree | None
    own_run: RunTree | None
    doctests: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def watching(self, files: frozenset[str]) -> "Layout":
        """Return the layout with runs that record which lines of some files they reach."""
        of_base, own = (each and replace(each, watched=files) for each in (self.base_run, self.own_run))
        return replace(self, base_run=of_base, own_run=own)


def whole_tree(root: Path, limits: WorkspaceLimits = DEFAULT_LIMITS) -> RunTree:
    """Return an unchanged tree.

    Raises:
        WorkspaceError: it is larger than the limits allow.
    """
    return RunTree(dict.fromkeys(tree_files(root, limits), root))


def lay_out(
    base: Path,
    workspace: Path,
    settings: PytestSettings,
    open_paths: Sequence[str] = (),
    limits: WorkspaceLimits = DEFAULT_LIMITS,
) -> Layout:
    """Determine the runs.

    Args:
        base: the tree with the base commit.
        workspace: the candidate's tree.
        settings: the configuration that counts.
        open_paths: glob patterns of files that the candidate may change.
        limits: limits on each of the trees.

    Raises:
        WorkspaceError: a tree is larger than the limits allow.
    """
    base_names = tree_files(base, limits)
    known = set(base_names)
    # Python would import a compiled file in place of a source, and nothing could check its content.
    names = [name for name in tree_files(workspace, limits) if name in known or not name.endswith(_COMPILED)]
    setting = _Setting(base, settings, base_names, open_paths)
    laid = [name for name in base_names if setting.holds(name)]
    changed = {
        name for name in base_names if setting.matters(name) and _differ(base / name, workspace / name)
    }
    own = [
        name
        for name in python_files(workspace)
        if is_test_file(name, settings.test_files) and (name not in known or name in changed)
    ]
    base_tests = [name for name in laid if is_test_file(name, settings.test_files) and name.endswith(".py")]
    has_base_tests = bool(base_tests) or settings.has_doctests
    added = stand_ins(names, known, ["", *settings.import_places]) if starts_processes(base, laid) else ()
    seen = [name for name in names if name not in added and not setting.adds(name, own)]
    sources = [name for name in names if name in known and name.endswith(".py") and not setting.holds(name)]
    has_doctests = settings.has_doctests_in_modules or runs_doctests(base, laid)
    texts = with_base_doctests(base, workspace, sources) if has_doctests else {}
    pinned = pinned_modules(base, base_names, [name for name in laid if name.endswith(".py")])
    own_run = RunTree(
        dict.fromkeys(names, workspace),
        trusted=frozenset(laid) - changed,
        only=frozenset(own) if has_base_tests else None,
        pinned=pinned,
        is_own=True,
    )
    return Layout(
        base_tests=tuple(base_tests),
        base_sources=tuple(name for name in base_names if name.endswith(".py") and not setting.matters(name)),
        laid_over=tuple(sorted(changed.intersection(laid))),
        own_tests=tuple(own),
        base_run=replace(_base_run(base, workspace, laid, seen), pinned=pinned, texts=texts)
        if has_base_tests
        else None,
        own_run=own_run if own or not has_base_tests else None,
        doctests=tuple(texts),
        added=tuple(name for name in names if name not in own and setting.is_new(name)),
    )


class _Setting:
    """Decides what happens to files of the test setting, and to those that were added to it."""

    def __init__(
        self, base: Path, settings: PytestSettings, base_names: Sequence[str], open_paths: Sequence[str]
    ) -> None:
        self._open = open_paths
        self._known = frozenset(base_names)
        self._setting = setting_of(base, settings.test_files, base_names, settings.doctest_files)

    def matters(self, name: str) -> bool:
        """Return True for a file of the setting, whether opened or not."""
        return name in self._setting

    def holds(self, name: str) -> bool:
        """Return True for a file that is taken from the base."""
        return self.matters(name) and not self._is_open(name)

    def adds(self, name: str, own: Collection[str]) -> bool:
        """Return True for a candidate's file that the base's tests must not see."""
        if self._is_open(name):
            return name in own
        return self.is_new(name) or (name not in self._known and _is_planted(name))

    def is_new(self, name: str) -> bool:
        """Return True for a file that the candidate added to the setting, and that is not open."""
        return name not in self._known and self.holds(name)

    def _is_open(self, name: str) -> bool:
        return matches(name, self._open)


def _base_run(base: Path, workspace: Path, laid: Sequence[str], names: Sequence[str]) -> RunTree:
    """Lay files of the base over the candidate's. Remove what is in their way."""
    over = set(laid)
    above = {place for name in laid for place in directories_above(name)}
    kept = [name for name in names if name not in above and over.isdisjoint(directories_above(name))]
    return RunTree({**dict.fromkeys(kept, workspace), **dict.fromkeys(laid, base)}, trusted=frozenset(laid))


def _is_planted(name: str) -> bool:
    return (
        posixpath.basename(name) in _LOADED_UNASKED
        or name.endswith(".pth")
        or any(place.endswith(_METADATA) for place in directories_above(name))
    )


def _differ(one: Path, other: Path) -> bool:
    try:
        if one.is_symlink() or other.is_symlink():
            return not (one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink())
        return not filecmp.cmp(one, other, shallow=False)
    except OSError:
        return True


def materialise(tree: RunTree, dest: Path) -> None:
    """Write a run's files to a new directory.

    Links that lead out of their tree and unreadable files are left out.
    """
    dest.mkdir(parents=True)
    made = {""}
    for name, root in tree.files.items():
        directory = posixpath.dirname(name)
        if directory not in made:
            (dest / directory).mkdir(parents=True, exist_ok=True)
            made.add(directory)
        # A file that disappeared or cannot be read is missing in the copy. The tests show whether that
        # matters.
        with suppress(OSError):
            _copy(root, name, dest / name)
    for name, text in tree.texts.items():
        if name in tree.files:
            (dest / name).write_bytes(text)


def _copy(root: Path, name: str, target: Path) -> None:
    source = root / name
    mode = source.lstat().st_mode
    if stat.S_ISLNK(mode):
        if not leaves_tree(os.fsencode(root), os.fsencode(name)):
            target.symlink_to(source.readlink())
    else:
        shutil.copyfile(source, target)
        target.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)

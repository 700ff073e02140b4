"""Determines which files affect a command's result, and takes them from the base.

A candidate can change everything that a project's command reads: tests, their settings, the command's script,
the files of `make` or `npm`, modules with the name of a tool. The command is judged with the base's version
of these files, and without those that the candidate added.
"""

import filecmp
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.runners.evaluators.commands.measuring import measuring_texts
from app.runners.evaluators.commands.overlay import Overlay, Overlays
from app.runners.evaluators.commands.package_json import package_texts, packages_of, scripts_run
from app.runners.evaluators.commands.runner_files import changed_tasks, is_runner_file, runner_files
from app.runners.evaluators.commands.scripts import script_text
from app.runners.evaluators.commands.test_places import is_of_tests
from app.runners.evaluators.protection.rules import matches
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.setting import setting_of
from app.runners.evaluators.tree_files import tree_files
from app.workspaces.files.limits import DEFAULT_LIMITS

_SETTINGS = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", ".npmrc"),
    *(".yarnrc", ".yarnrc.yml", ".mocharc.*", "jest.config.*", "vitest.config.*", ".nycrc*", ".c8rc*"),
    *(".bandit", ".coveragerc", ".eslintrc*", ".eslintignore", "eslint.config.*", ".flake8", ".pylintrc"),
    *("ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".semgrepignore", ".rspec", "karma.conf.*"),
    *("sitecustomize.py", "usercustomize.py", "bunfig.toml"),
    # Set-ups of JavaScript's tests, and the other file in which vitest finds its settings.
    *("vite.config.*", "vitest.workspace.*", "vitest[.-]setup.*", "jest[.-]setup.*", "setup-jest.*"),
    *("setupTests.*", "setupJest.*", "setup-tests.*", "test-setup.*", "testSetup.*"),
)
_TOOLS = frozenset({"unittest", "pytest", "_pytest", "pluggy", "doctest", "coverage", "bandit", "nose"})
_CHECKING = re.compile(r"check|test|verif|lint|valid|accept|smoke|coverage|(?:^|[/_.-])ci(?:[/_.-]|$)", re.I)
_WORD = re.compile(r"[\w@./-]+")
_NO_LANGUAGE = LanguageSetting()


def overlays_for(
    base: Path,
    tree: Path,
    command: Sequence[str] | str,
    directory: str = "",
    opened: Sequence[str] = (),
    *,
    measures: bool = False,
    setting: LanguageSetting = _NO_LANGUAGE,
) -> Overlays:
    """Return how a command runs on a candidate.

    Args:
        base: the tree at the base commit.
        tree: the candidate's tree.
        command: program and arguments, or a line for a shell.
        directory: where the command starts, below the tree.
        opened: globs of paths that the candidate may change.
        measures: True if the command measures or scans the code; its settings are then the base's, too.
        setting: the files of the command's language that are taken from the base.

    Raises:
        WorkspaceError: a tree is larger than the limits allow.
    """
    names = frozenset(tree_files(base, DEFAULT_LIMITS))
    present = frozenset(tree_files(tree, DEFAULT_LIMITS))
    words = _words(command)
    reads = _Reads(base, names, words, directory)
    closed = {name for name in names | present if not matches(name, opened)}
    shadows = {each for each in closed - names if reads.shadows(each) or setting.leaves_out(each)}
    manifests = setting.changed_manifests(base, tree, closed & names & present)
    packages = package_texts(base, tree, words, names, opened, directory)
    if measures:
        measured = _measured(base, tree, closed, names, present, shadows)
        sources = {name: text for name, text in measured.texts.items() if name.endswith(".py")}
        measured = replace(measured, texts={**packages, **measured.texts})
        judged = _with_language(measured, base, tree, closed, names, setting, manifests)
        return Overlays(Overlay(), judged, _overlay((), shadows, sources))
    own = _overlay((), shadows, {})
    held = {each for each in closed & names if reads.holds(each) or setting.holds(each)}
    changed = {each for each in held if _differ(base, tree, each)} | manifests
    changed |= changed_tasks(base, tree, set(map(posixpath.basename, words)), directory) & closed & names
    added = {each for each in closed - names if reads.adds(each) or setting.holds(each)}
    texts = packages | setting.texts(base, tree, (closed & names & present) - changed)
    if not (changed or added or texts):
        return Overlays(Overlay(), own)
    return Overlays(_overlay(changed - texts.keys(), added | shadows, texts), own)


def _measured(
    base: Path,
    tree: Path,
    closed: AbstractSet[str],
    names: AbstractSet[str],
    present: AbstractSet[str],
    shadows: AbstractSet[str],
) -> Overlay:
    """Keep the candidate's tests, and take the settings of the measurement from the base."""
    texts = measuring_texts(base, tree, names & present, present)
    changed = {each for each in closed & names if _is_setting(each) and _differ(base, tree, each)}
    added = {each for each in closed - names if _is_setting(each) and not _is_setting_of_tests(each)}
    kept = {name: text for name, text in texts.items() if name in closed and name not in changed}
    return _overlay(changed, added | shadows, kept)


def _with_language(
    measured: Overlay,
    base: Path,
    tree: Path,
    closed: AbstractSet[str],
    names: AbstractSet[str],
    setting: LanguageSetting,
    manifests: AbstractSet[str],
) -> Overlay:
    """Take the settings of a language's checker from the base, too."""
    changed = {
        each for each in closed & names if setting.holds(each) and _differ(base, tree, each)
    } | manifests
    added = {each for each in closed - names if setting.holds(each)}
    texts = {name: text for name, text in measured.texts.items() if name not in changed}
    return _overlay({*measured.changed, *changed}, {*measured.added, *added}, texts)


def _overlay(changed: Iterable[str], added: Iterable[str], texts: Mapping[str, bytes]) -> Overlay:
    return Overlay(tuple(sorted(changed)), tuple(sorted(added)), texts)


def _is_setting_of_tests(name: str) -> bool:
    return posixpath.basename(name) in ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml")


class _Reads:
    """The files that a command reads besides the product: the base's, and additions that may count."""

    def __init__(self, base: Path, names: Iterable[str], words: Sequence[str], directory: str) -> None:
        self._names = frozenset(names)
        self._directory = directory
        self._words = frozenset(part for word in words for part in (word, posixpath.basename(word)))
        settings = settings_for(base, base)
        self._setting = setting_of(base, settings.test_files, sorted(self._names), settings.doctest_files)
        self._scripts = frozenset(self._named(base, words))
        self._has_tests = any(self._is_test(name) for name in self._names)

    def holds(self, name: str) -> bool:
        """Return True if a file of the base replaces the candidate's."""
        return self._is_test(name) or _is_setting(name) or name in self._scripts

    def adds(self, name: str) -> bool:
        """Return True if a file that the base does not have must be left out."""
        if self._has_tests and self._is_test(name):
            return True
        if name in self._rivals():
            return True
        is_shared = posixpath.basename(name) == "conftest.py"
        return _is_setting(name) and (self._has_tests or not is_shared)

    def shadows(self, name: str) -> bool:
        """Return True if an added module replaces a tool that the command runs."""
        if not name.endswith((".py", ".pth")):
            return False
        for place in ("", self._directory, "src"):
            inside = name.removeprefix(f"{place}/") if place else name
            top = inside.partition("/")[0].removesuffix(".py")
            if (top in _TOOLS or top in self._words) and not self._is_known(place, top):
                return True
        return name.endswith(".pth")

    def _is_known(self, place: str, top: str) -> bool:
        start = f"{place}/{top}" if place else top
        return any(each == f"{start}.py" or each.startswith(f"{start}/") for each in self._names)

    def _is_test(self, name: str) -> bool:
        return name in self._setting or is_of_tests(name)

    def _rivals(self) -> Iterator[str]:
        """Yield names that a program of the command reads in place of a file that the base has."""
        for names in runner_files(self._words):
            inside = list(map(self._inside, names))
            if not self._names.isdisjoint(inside):
                yield from inside

    def _inside(self, name: str) -> str:
        return posixpath.normpath(posixpath.join(self._directory, name))

    def _named(self, base: Path, words: Sequence[str]) -> set[str]:
        """Return the scripts of a command, and the scripts that they name in turn."""
        found: set[str] = set()
        waiting = [*words, *(name for names in runner_files(self._words) for name in names)]
        places = [(self._directory, word) for word in waiting]
        for name in packages_of(self._names, words):
            scripts = " ".join(scripts_run(base / name, self._words))
            places += [(posixpath.dirname(name), word) for word in _WORD.findall(scripts)]
        while places:
            place, word = places.pop()
            name = posixpath.normpath(posixpath.join(place, word))
            if name not in self._names or name in found or not _is_script(name):
                continue
            found.add(name)
            places += [(place, each) for each in _WORD.findall(script_text(base / name))]
        return found


def _is_script(name: str) -> bool:
    base = posixpath.basename(name)
    is_known = is_runner_file(base) or base.endswith((".sh", ".bash", ".mk"))
    return is_known or bool(_CHECKING.search(name))


def _is_setting(name: str) -> bool:
    base = posixpath.basename(name)
    return any(fnmatchcase(base, pattern) for pattern in _SETTINGS)


def _words(command: Sequence[str] | str) -> list[str]:
    if not isinstance(command, str):
        # A line for a shell may be an argument, as in `bash -c "make test"`.
        lines = [part for each in command if " " in each for part in _words(each)]
        return [*command, *lines]
    try:
        return [part for word in shlex.split(command) for part in (word, word.strip(";&|()"))]
    except ValueError:
        return command.split()


def _differ(base: Path, tree: Path, name: str) -> bool:
    one, other = base / name, tree / name
    try:
        if one.is_symlink() or other.is_symlink():
            return not (one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink())
        return not filecmp.cmp(one, other, shallow=False)
    except OSError:
        return True

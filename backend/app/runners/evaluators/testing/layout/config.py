"""Chooses the pytest configuration: the base's, or the candidate's where it weakens no test."""

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.source_places import source_places
from app.runners.evaluators.testing.layout.django_options import django_options
from app.runners.evaluators.testing.layout.python_files import (
    defines_tests,
    named_otherwise,
    patterns_of_tests,
)
from app.workspaces.environments.django import settings_of_tox
from app.workspaces.environments.pytest_commands import directories_with_tests, runs_pytest_as_module

# Options in the base's `addopts` that determine which tests exist, how they are imported, and what they find
# in `sys.stdout` and in logs. Others (coverage, parallel runs, reports, warnings as errors) are for
# convenience, for other versions of packages, or for plug-ins that may not be loaded.
_KEPT_WITH_VALUE = frozenset(
    (
        *("--import-mode", "--ignore", "--ignore-glob", "--deselect", "--doctest-glob", "--capture"),
        *("--log-level", "--log-format", "--log-date-format"),
        *("-m", "-k", "-p"),
    )
)
_UNCAPTURED = re.compile(r"-[lqvx]*s[lqsvx]*")
_SHORT = re.compile(r"-[lqsvx]*([kmp])(.*)", re.DOTALL)
"""Short options together, as in `-vm slow`, or with their value, as in `-m"not slow"`."""

_KEPT_FLAGS = frozenset(
    {
        *("--doctest-modules", "--doctest-ignore-import-errors"),
        *("--strict-markers", "--pyargs"),
    }
)
# Options of a plugin, kept as one word; the run leaves them out where it has no need of the plugin.
_KEPT_FOR_PLUGINS = frozenset({"--hypothesis-profile", "--hypothesis-seed", "--ds", "--dc"})
_SELECTING = frozenset({"--ignore", "--ignore-glob", "--deselect", "-m", "-k"})
_AS_SETTING = {"--asyncio-mode": "asyncio_mode"}

# What a candidate may configure in a project that has no configuration yet.
_HARMLESS = ("pythonpath", "markers", "asyncio_mode", "asyncio_default_fixture_loop_scope")
_CONFIG_FILES = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
    # pytest does not look there, but some authors pass it (`-c config/pytest.ini`).
    "config/pytest.ini",
)


_TEST_FILES = ("test_*.py", "*_test.py")
_TEST_PROGRAMS = ("test.py", "tests.py", "run_tests.py", "runtests.py")
_PROGRAM_PLACES = ("", "test", "tests", "src/test", "src/tests")
_PACKAGES_OF_PYTEST = ("iniconfig", "packaging", "pluggy", "pygments")
_DOCTEST_GLOB = "--doctest-glob"
# Pytest's default for texts with doctests if no glob is given.
_DOCTEST_FILES = ("test*.txt",)


@dataclass(frozen=True, slots=True)
class PytestSettings:
    """Arguments that carry the configuration, and who wrote it.

    Attributes:
        config_file: for `-c`; None for an empty one.
        arguments: further arguments.
        source: for people.
        test_files: glob patterns of test files.
        names_tests: whether the configuration says which functions and classes are tests.
        import_places: directories, relative to the tree, from which tests import besides its root.
        is_module: whether the base's commands run pytest as a module, which gives the program another name.
        own: names of the options that the candidate configures for its own tests.
    """

    config_file: Path | None
    arguments: tuple[str, ...]
    source: str
    test_files: tuple[str, ...] = _TEST_FILES
    names_tests: bool = False
    import_places: tuple[str, ...] = ("src",)
    is_module: bool = False
    own: tuple[str, ...] = ()

    @property
    def has_doctests(self) -> bool:
        """True if any file may contain tests."""
        return any(each.startswith(("--doctest-modules", _DOCTEST_GLOB)) for each in self.arguments)

    @property
    def has_doctests_in_modules(self) -> bool:
        """True if docstrings of sources are tests."""
        return "--doctest-modules" in self.arguments

    @property
    def doctest_files(self) -> tuple[str, ...]:
        """Glob patterns of texts with doctests."""
        following = (None, *self.arguments)
        globs = [
            each.partition("=")[2] or each
            for before, each in zip(following, self.arguments, strict=False)
            if each.startswith(f"{_DOCTEST_GLOB}=") or before == _DOCTEST_GLOB
        ]
        return tuple(globs) or _DOCTEST_FILES

    @property
    def selects(self) -> bool:
        """True if a run leaves out some tests of the test files."""
        return any(each.partition("=")[0] in _SELECTING for each in self.arguments)


def settings_for(tree: Path, base: Path | None) -> PytestSettings:
    """Choose the configuration for a run in `tree`. `base` may be that same tree."""
    return replace(_settings_for(tree, base), is_module=base is not None and runs_pytest_as_module(base))


def _settings_for(tree: Path, base: Path | None) -> PytestSettings:
    found = _find(base) if base else None
    if found is None:
        django = django_options(base, _PROGRAM_PLACES)
        files = (*_usual_test_files(base), *django.test_files)
        present = _find(tree)
        own = present[1] if present else dict[str, Any]()
        kept = [name for name in _HARMLESS if name in own and name != "pythonpath"]
        arguments = [part for name in kept for part in override(name, own[name], tree)]
        arguments += [*import_path(own, tree, django.import_places), *django.arguments]
        if files != _TEST_FILES:
            arguments += ["-o", f"python_files={' '.join(files)}"]
        arguments += _test_paths(base)
        return PytestSettings(None, tuple(arguments), "built-in", files)
    path, options = found
    arguments = kept_options(options.get("addopts"))
    arguments += import_path(options, tree)
    if base is not None and "django_settings_module" not in map(str.lower, options):
        module = settings_of_tox(base)
        arguments += [f"--ds={module}"] if module and "--ds" not in " ".join(arguments) else []
    test_files = tuple(option_words(options.get("python_files"))) or _usual_test_files(base)
    if not options.get("python_files") and test_files != _TEST_FILES:
        arguments += ["-o", f"python_files={' '.join(test_files)}"]
    arguments += _test_paths(base) if not options.get("testpaths") else []
    names_tests = bool(options.get("python_functions") or options.get("python_classes"))
    if base is not None and not names_tests:
        test_files = patterns_of_tests(base, test_files)
    places = tuple(dict.fromkeys((*option_words(options.get("pythonpath")), "src", *source_places(tree))))
    return PytestSettings(path, tuple(arguments), f"base {path.name}", test_files, names_tests, places)


def _test_paths(base: Path | None) -> list[str]:
    """Return the option for the directories that the base's commands name, instead of all."""
    places = directories_with_tests(base) if base is not None else ()
    return ["-o", f"testpaths={' '.join(map(shlex.quote, places))}"] if places else []


def packages_of_pytest(base: Path, settings: PytestSettings) -> list[str]:
    """Return the packages of pytest itself that the base contains, because its tests are about these.

    Only the base decides. Otherwise a candidate could add such a package and change pytest.
    """
    places = [base, *(base / each for each in settings.import_places)]
    return [
        name
        for name in _PACKAGES_OF_PYTEST
        if any((place / name).is_dir() or (place / f"{name}.py").is_file() for place in places)
    ]


def _usual_test_files(base: Path | None) -> tuple[str, ...]:
    """Return pytest's usual patterns, and the files that unittest projects run under other names."""
    if base is None:
        return _TEST_FILES
    alone = [
        name
        for name in _TEST_PROGRAMS
        if any(defines_tests(base / place / name) for place in _PROGRAM_PLACES)
    ]
    return (*_TEST_FILES, *(alone or named_otherwise(base, _TEST_FILES)))


def import_path(options: Mapping[str, Any], tree: Path, more: Sequence[str] = ()) -> list[str]:
    """Return the option for the import path: the project's own entries, `more`, and where its modules are.

    Authors of such a layout install the project in editable mode. An installed copy would not be the judged
    code.
    """
    places = [*option_words(options.get("pythonpath")), *more]
    known = {each.removeprefix("./").rstrip("/") for each in places}
    places = [*places, *(each for each in source_places(tree) if each not in known)]
    return override("pythonpath", places, tree) if places else []


def override(name: str, value: object, tree: Path) -> list[str]:
    """Return an option that replaces a setting. Paths are converted to those of the tree that runs."""
    if name == "pythonpath":
        value = " ".join(shlex.quote(str(tree / part)) for part in option_words(value))
    elif isinstance(value, list):
        value = "\n".join(str(each) for each in cast("list[object]", value))
    return ["-o", f"{name}={value}"]


def kept_options(addopts: object) -> list[str]:
    """Return the options of an `addopts` that count."""
    kept: list[str] = []
    words = iter(_apart(option_words(addopts)))
    for word in words:
        name, has_value, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in _AS_SETTING:
            kept += ["-o", f"{_AS_SETTING[name]}={value if has_value else next(words, '')}"]
        elif name in _KEPT_WITH_VALUE:
            kept += [word] if has_value else [word, next(words, "")]
        elif name in _KEPT_FOR_PLUGINS:
            kept.append(word if has_value else f"{name}={next(words, '')}")
        elif name in _KEPT_FLAGS:
            kept.append(word)
        elif _UNCAPTURED.fullmatch(word):
            kept.append("-s")
    return kept


def _apart(options: Sequence[str]) -> Iterator[str]:
    """Yield words, with a short option and its value apart from each other and from other options."""
    for word in options:
        found = _SHORT.fullmatch(word)
        if found is None:
            yield word
            continue
        if "s" in word[: found.start(1)]:
            yield "-s"
        yield f"-{found[1]}"
        if found[2]:
            yield found[2].strip()


def option_words(value: object) -> list[str]:
    """Return the words of an option, which is a list or a text."""
    if isinstance(value, list):
        return [str(each) for each in cast("list[object]", value)]
    try:
        return shlex.split(str(value)) if value else []
    except ValueError:  # a quotation without an end, at which pytest stops
        return str(value).split()


def options_of(tree: Path) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name of the configuration file that pytest would use in a tree, and its options."""
    found = _find(tree)
    return None if found is None else (str(found[0].relative_to(tree)), found[1])


def _find(tree: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the configuration file that pytest would use at the root of a tree, with its options."""
    for name in _CONFIG_FILES:
        path = tree / name
        if path.is_file():
            options = _options(path)
            if options is not None:
                return path, options
    return None


def _options(path: Path) -> Mapping[str, Any] | None:
    """Read pytest's options. Return None if the file holds none."""
    dedicated = path.name.lstrip(".").startswith("pytest.")
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            return _from_toml(tomllib.loads(text), dedicated=dedicated)
        parser = configparser.RawConfigParser()
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, UnicodeDecodeError, RecursionError):
        return None
    section = "tool:pytest" if path.name == "setup.cfg" else "pytest"
    return dict(parser[section]) if section in parser else ({} if dedicated else None)


def _from_toml(document: Mapping[str, Any], *, dedicated: bool) -> Mapping[str, Any] | None:
    if dedicated:
        return _table(document.get("pytest"))
    table = _table(_table(document.get("tool")).get("pytest"))
    return _table(table.get("ini_options")) or table or None


def _table(value: object) -> Mapping[str, Any]:
    """Return a table of a document; empty for anything else in its place."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}

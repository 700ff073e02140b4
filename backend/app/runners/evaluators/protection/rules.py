"""Determines which files of the base are protected, and what a candidate did to them.

These files of the base are protected:

- test files, as pytest's configuration at the base names them, and every `conftest.py`;
- everything below a directory `tests` or `test` with test files: helpers, data, snapshots;
- configuration files of the judging tools, and `phaserunner.toml`, which may not be added either;
- in files with several uses (`pyproject.toml`, `setup.cfg`, `tox.ini`) the sections of those tools;
- further files that the project protects.

Python files are compared by their meaning (see `meaning`): comments, layout and renamed local variables are
no change, and requiring more is no offence. That includes more assertions, rows, tests, fixtures and helpers.
Configuration is compared setting by setting (see `setting_changes`), whichever file holds it: a stricter
setting, or one that no tool of the gates reads, is no offence. Everything else is a finding with a question
about each test, fixture, setting or file, unless the path was opened.
"""

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from app.runners.evaluators.protection.config_questions import (
    has_commands,
    is_configuration,
    questions_by_file,
)
from app.runners.evaluators.protection.config_sections import has_guarded_sections
from app.runners.evaluators.protection.moves import MovedTests
from app.runners.evaluators.protection.questions import questions_about
from app.runners.evaluators.protection.strength import asks_for_as_much
from app.runners.evaluators.protection.tool_settings import Read
from app.runners.evaluators.source_tree import project_files
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.setting import TestSetting, setting_of
from app.schemas.questions import Question
from app.workspaces.files.paths import is_excluded_directory

PROJECT_FILE = "phaserunner.toml"

_CONFIGURATION = frozenset(
    {
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "ruff.toml", ".ruff.toml", ".flake8"),
        *("mypy.ini", ".mypy.ini", "pyrightconfig.json", "ty.toml", ".coveragerc", PROJECT_FILE),
    }
)
_DIFF_CHARS = 6000
_TEXT_BYTES = 400_000


class Offence(StrEnum):
    """The kind of change to a protected file."""

    CHANGED = "changed"
    DELETED = "deleted"
    ADDED = "added"


@dataclass(frozen=True, slots=True, order=True)
class TamperFinding:
    """A protected file that differs from the base's.

    Attributes:
        path: POSIX path relative to the tree.
        offence: the kind of change.
        diff: the difference as a bounded unified diff; a sentence if the file is not text.
        questions: questions for a person, one for each test, fixture or file.
    """

    path: str
    offence: Offence
    diff: str
    questions: tuple[Question, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Protection:
    """The state of the protected files.

    Attributes:
        protected: every protected file of the base, sorted.
        findings: those that were tampered with, sorted.
        extended: those with additions only.
        opened: those that were changed and may be, because their path was opened.
    """

    protected: tuple[str, ...]
    findings: tuple[TamperFinding, ...]
    extended: tuple[str, ...]
    opened: tuple[str, ...]


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return True if a path matches one of the globs. A directory's path includes everything below it."""
    return any(
        fnmatchcase(path, pattern) or path.startswith(f"{pattern.rstrip('/')}/") for pattern in patterns
    )


def protected_files(base: Path, extra: Sequence[str] = ()) -> list[str]:
    """Return the protected files of a base tree as sorted POSIX paths. `extra` are globs of further ones."""
    return _protected(base, extra)[0]


def _protected(base: Path, extra: Sequence[str]) -> tuple[list[str], TestSetting, Sequence[str]]:
    files = base_files(base)
    settings = settings_for(base, base)
    setting = setting_of(base, settings.test_files, files, settings.doctest_files)
    names = [
        name
        for name in sorted({*files, *_hidden_below(base, setting.directories)})
        if name in setting
        or PurePosixPath(name).name in _CONFIGURATION
        or has_guarded_sections(name)
        or matches(name, extra)
    ]
    return names, setting, settings.test_files


def base_files(base: Path) -> list[str]:
    """Return the files of a tree, including the hidden configuration files at its root."""
    hidden = [name for name in _CONFIGURATION if name.startswith(".") and (base / name).is_file()]
    return sorted({*project_files(base), *hidden})


def _hidden_below(base: Path, directories: Iterable[str]) -> Iterator[str]:
    """Yield hidden files in directories, and files in hidden directories, but not those of tools."""
    for top in directories:
        for place, inside, names in os.walk(base / top):
            inside[:] = [each for each in inside if not is_excluded_directory(os.fsencode(each))]
            for name in names:
                path = PurePosixPath(place, name).relative_to(base)
                if any(part.startswith(".") for part in path.parts) and not (base / path).is_symlink():
                    yield str(path)


def compare_protected(
    base: Path,
    candidate: Path,
    *,
    opened: Sequence[str] = (),
    extra: Sequence[str] = (),
    tests_run: bool = False,
) -> Protection:
    """Compare the protected files of two trees.

    Args:
        base: the tree at the base commit.
        candidate: the judged tree.
        opened: globs of paths that may be changed.
        extra: globs of further protected files.
        tests_run: True if the base's versions of the tests also judge the candidate. Then a rewritten test
            that
            requires as much is no offence.
    """
    protected, setting, patterns = _protected(base, extra)
    findings: list[TamperFinding] = []
    extended: list[str] = []
    allowed: list[str] = []
    # A project file among the data of tests is data.
    configuration = [each for each in protected if is_configuration(each) and each not in setting]
    settings = _about_settings(base, candidate, configuration)
    # A project that changes the test gate may not run the base's versions.
    tests_run = tests_run and not _sets_test_gate(base)
    but = asks_for_as_much if tests_run else None
    gone = [each for each in protected if not os.path.lexists(candidate / each)]
    moved = _moved(base, candidate, setting, patterns) if gone else None
    for name in sorted({*protected, *_added(base, candidate), *settings}):
        before, after = _content(base / name), _content(candidate / name)
        if before == after:
            continue
        if matches(name, opened):
            allowed.append(name)
        elif questions := (
            settings.get(name, ())
            if name in configuration or name in settings
            else questions_about(name, before, after, but=but)
        ):
            places = moved.places(name) if moved is not None and name in gone else []
            if any(not questions_about(name, before, _content(candidate / each), but=but) for each in places):
                extended.append(name)
                continue
            findings.append(_finding(name, before, after, questions))
        else:
            extended.append(name)
    return Protection(tuple(protected), tuple(sorted(findings)), tuple(extended), tuple(allowed))


def _moved(base: Path, candidate: Path, setting: TestSetting, patterns: Sequence[str]) -> MovedTests:
    files = (base_files(base), project_files(candidate))
    return MovedTests(*files, setting.directories, patterns, _reader(base))


def _sets_test_gate(base: Path) -> bool:
    """Return True if the project's file may change the test gate. Its comments do not count."""
    content = _content(base / PROJECT_FILE)
    if content is None or b"pytest" not in content:
        return False
    try:
        return "pytest" in str(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return True


def _added(base: Path, candidate: Path) -> list[str]:
    """Return the project file if the candidate adds one, because it would decide about later runs."""
    return (
        [PROJECT_FILE] if not (base / PROJECT_FILE).exists() and (candidate / PROJECT_FILE).exists() else []
    )


def _about_settings(base: Path, candidate: Path, names: Iterable[str]) -> dict[str, list[Question]]:
    """Return questions about configuration by file, directory by directory. `.` is the root."""
    commands = has_commands(_content(base / PROJECT_FILE))
    found: dict[str, list[Question]] = {}
    for place in sorted({".", *(str(PurePosixPath(each).parent) for each in names)}):
        before, after = (_reader(tree / place) for tree in (base, candidate))
        found |= questions_by_file(place, before, after, commands=commands)
    return found


def _reader(place: Path) -> Read:
    return lambda name: _content(place / name)


def _finding(
    name: str, before: bytes | None, after: bytes | None, questions: Sequence[Question]
) -> TamperFinding:
    asked = tuple(questions)
    if after is None:
        return TamperFinding(name, Offence.DELETED, "", asked)
    offence = Offence.ADDED if before is None else Offence.CHANGED
    return TamperFinding(name, offence, _difference(name, before or b"", after), asked)


def _difference(name: str, before: bytes, after: bytes) -> str:
    if max(len(before), len(after)) > _TEXT_BYTES or b"\0" in before + after:
        return f"{len(before)} bytes became {len(after)} bytes"
    lines = difflib.unified_diff(
        before.decode("utf-8", "replace").splitlines(),
        after.decode("utf-8", "replace").splitlines(),
        f"base/{name}",
        f"candidate/{name}",
        lineterm="",
        n=2,
    )
    text = "\n".join(lines)
    return text if len(text) <= _DIFF_CHARS else f"{text[:_DIFF_CHARS]}\n…"


def _content(path: Path) -> bytes | None:
    """Return a file's bytes, or None for a link, a directory or a missing file."""
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None

"""Checks the files of held-out tests against the base to which they are added."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import InvalidInputError
from app.runners.evaluators.testing.layout.config import PytestSettings, settings_for
from app.runners.evaluators.testing.layout.setting import TestSetting, is_test_file
from app.runners.evaluators.tree_files import tree_files
from app.schemas.held_out import MAX_HELD_OUT_BYTES, MAX_HELD_OUT_FILES
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.paths import is_excluded_directory, is_git_directory_name

FIELD = "held_out"


@dataclass(frozen=True, slots=True)
class HeldOutTests:
    """Tests that no agent sees.

    Attributes:
        files: test files and their helpers, text by path.
        tests: the paths of the tests to run.
    """

    files: Mapping[str, str]
    tests: frozenset[str]


def check_held_out(
    files: Mapping[str, bytes], base: Path, limits: WorkspaceLimits = DEFAULT_LIMITS
) -> HeldOutTests:
    """Return the held-out tests in these files.

    Args:
        files: whole contents by POSIX paths.
        base: the tree with the base commit.
        limits: limits on that tree.

    Raises:
        InvalidInputError: there is no test file among them, or one of them is not UTF-8 text, is outside the
            test setting, or is already in the base, or the whole is too large. The message names the file.
        WorkspaceError: the base is larger than the limits.
    """
    _check_size(files)
    texts = {name: _text(name, content) for name, content in sorted(files.items())}
    settings = settings_for(base, base)
    base_names = tree_files(base, limits)
    setting = TestSetting(settings.test_files, [*base_names, *texts], settings.doctest_files)
    for name in texts:
        _check_place(name, setting)
    _check_is_new(files, base, base_names)
    tests = _test_files(texts, settings)
    if not tests:
        patterns = " or ".join(settings.test_files)
        raise InvalidInputError(f"no file is a test file: name one {patterns}", field=FIELD)
    return HeldOutTests(texts, tests)


def held_out_again(files: Mapping[str, str], base: Path) -> HeldOutTests:
    """Return held-out tests that were checked before, from their stored form."""
    return HeldOutTests(files, _test_files(files, settings_for(base, base)))


def _test_files(names: Iterable[str], settings: PytestSettings) -> frozenset[str]:
    return frozenset(
        name for name in names if name.endswith(".py") and is_test_file(name, settings.test_files)
    )


def _check_size(files: Mapping[str, bytes]) -> None:
    if len(files) > MAX_HELD_OUT_FILES:
        raise InvalidInputError(
            f"they have {len(files)} files; {MAX_HELD_OUT_FILES} are allowed", field=FIELD
        )
    size = sum(map(len, files.values()))
    if size > MAX_HELD_OUT_BYTES:
        raise InvalidInputError(f"they have {size:,} bytes; {MAX_HELD_OUT_BYTES:,} are allowed", field=FIELD)
    if not files:
        raise InvalidInputError("adds and changes no file", field=FIELD)


def _text(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{name} is not UTF-8 text", field=FIELD) from error
    if "\0" in text:
        raise InvalidInputError(f"{name} contains a NUL character; only text is allowed", field=FIELD)
    return text


def _check_place(name: str, setting: TestSetting) -> None:
    parts = [part.encode() for part in name.split("/")]
    if any(is_git_directory_name(part) or is_excluded_directory(part) for part in parts):
        raise InvalidInputError(f"{name} lies in a directory that is never judged", field=FIELD)
    if name not in setting:
        # It would replace the candidate's work, and pass in its place.
        told = "is not a test file and not in a directory named test or tests; only tests can be held out"
        raise InvalidInputError(f"{name} {told}", field=FIELD)


def _check_is_new(files: Mapping[str, bytes], base: Path, base_names: Iterable[str]) -> None:
    """Refuse files that the agent can read anyway."""
    by_size: dict[int, list[str]] = {}
    for name, content in files.items():
        if content.strip():
            by_size.setdefault(len(content), []).append(name)
    for present in base_names:
        path = base / present
        if path.is_symlink() or not path.is_file():
            continue
        for name in by_size.get(path.stat().st_size, ()):
            if path.read_bytes() == files[name]:
                told = f"{name} is in the base as {present}, where every agent can read it"
                raise InvalidInputError(told, field=FIELD)

"""Asks about changed configuration: one question for each setting that may require less. Pure."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from app.runners.evaluators.protection.config_sections import guarded_sections, has_guarded_sections
from app.runners.evaluators.protection.questions import question_of_file
from app.runners.evaluators.protection.setting_changes import SettingChange, weaker_settings
from app.runners.evaluators.protection.setting_weights import Weight
from app.runners.evaluators.protection.tool_settings import (
    SETTINGS_FILES,
    Read,
    UnreadableSettingsError,
    Value,
    settings_in,
)
from app.schemas.questions import Question, QuestionKind

COMMANDS_ONLY = frozenset({".flake8", ".coveragerc"})
"""Configuration of tools that no gate runs, but a project's own command may."""

_ENDING = "does the goal say so?"


def is_configuration(name: str) -> bool:
    """Return True if a file (POSIX path) holds settings that are compared one by one."""
    return PurePosixPath(name).name in SETTINGS_FILES | COMMANDS_ONLY


def has_commands(project_file: bytes | None) -> bool:
    """Return True if a project's file names commands that judge, or cannot be read."""
    if project_file is None:
        return False
    try:
        return bool(tomllib.loads(project_file.decode("utf-8")).get("command"))
    except ValueError:
        return True


def questions_by_file(
    directory: str, before: Read, after: Read, *, commands: bool
) -> dict[str, list[Question]]:
    """Return questions about settings of one directory that may require less, by the file that holds them.

    What a tool would read is compared, not the files: moving a section to another file changes nothing.

    Args:
        directory: POSIX path relative to the tree; `.` for its root.
        before: returns a file of the directory at the base by its name.
        after: returns it in the candidate.
        commands: whether the project's own commands judge; they may read any section.
    """
    found: dict[str, list[Question]] = {}
    for change in _changes(before, after):
        name = str(PurePosixPath(directory, change.file))
        asked = (
            _of_setting(name, change)
            if change.name
            else question_of_file(name, before(change.file), after(change.file))
        )
        found.setdefault(name, []).append(asked)
    if commands:
        for file in sorted(SETTINGS_FILES | COMMANDS_ONLY):
            name = str(PurePosixPath(directory, file))
            if name not in found and _differs(file, before(file), after(file)):
                found[name] = [question_of_file(name, before(file), after(file))]
    return found


def _changes(before: Read, after: Read) -> Iterator[SettingChange]:
    try:
        old = settings_in(before)
    except UnreadableSettingsError as error:
        # An unreadable file sets nothing, but a repaired one may set anything.
        if before(error.file) != after(error.file):
            yield _whole(error.file)
        return
    try:
        new = settings_in(after)
    except UnreadableSettingsError as error:
        yield _whole(error.file)
        return
    yield from weaker_settings(old, new)


def _whole(file: str) -> SettingChange:
    return SettingChange(file, "", "was changed", Weight.UNKNOWN, None, None)


def _of_setting(name: str, change: SettingChange) -> Question:
    kind = QuestionKind.WEAKER if change.weight is Weight.WEAKER else QuestionKind.DIFFERENT
    return Question.about(
        f"{name}::{change.name}",
        kind,
        f"`{name}`: `{change.name}` {change.why}: {_ENDING}",
        why=change.why,
        before=_line(change.name, change.old),
        after=_line(change.name, change.new),
    )


def _line(name: str, value: Value | None) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "\n".join([f"{name} = [", *(f"    {each}" for each in value), "]"])
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _differs(file: str, before: bytes | None, after: bytes | None) -> bool:
    """Return True if sections that only commands read have changed. New sections are an addition."""
    if before is None or before == after:
        return False
    if not has_guarded_sections(file):
        return True
    old = guarded_sections(file, before) or {}
    new: Mapping[str, object] = (guarded_sections(file, after, beside=before) or {}) if after else {}
    return any(new.get(section) != value for section, value in old.items())

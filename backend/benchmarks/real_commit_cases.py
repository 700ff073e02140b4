"""Reads the list of real commits and releases, and puts it in the order in which it is judged."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import cast

LIST = Path(__file__).with_name("real_commits.toml")

_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]*")
_SHOWN_DIGITS = 9


class ListError(ValueError):
    """The list of cases cannot be used; the message names the table and the entry."""


@dataclass(frozen=True, slots=True)
class Case:
    """One honest change.

    Attributes:
        project: its name on the registry, and the name of the directory with its history.
        base: the earlier version; empty for a commit, whose base is its first parent.
        candidate: the later version, or the commit's full id.
    """

    project: str
    base: str
    candidate: str

    @property
    def is_release(self) -> bool:
        """True for two versions from the registry, False for a commit."""
        return bool(self.base)

    @property
    def name(self) -> str:
        """The case's name in results: unique, and short enough for a table."""
        if self.is_release:
            return f"{self.project}@{self.base}..{self.candidate}"
        return f"{self.project}@{self.candidate[:_SHOWN_DIGITS]}"


@dataclass(frozen=True, slots=True)
class CaseList:
    """What the list holds.

    Attributes:
        cases: in the list's order, commits first.
        rightly_refused: by case name, why a careful person would refuse the change, too.
    """

    cases: tuple[Case, ...]
    rightly_refused: Mapping[str, str]


def read_list(text: str) -> CaseList:
    """Read the list.

    Raises:
        ListError: it is not TOML, or an entry is not of the form that its table asks for.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ListError(f"the list is not TOML: {error}") from error
    commits = [
        Case(project, "", _matching(_COMMIT, entry, f"commits.{project}"))
        for project, entries in _table(document, "commits").items()
        for entry in _entries(entries, f"commits.{project}")
    ]
    releases = [
        Case(project, *_versions(entry, f"releases.{project}"))
        for project, entries in _table(document, "releases").items()
        for entry in _entries(entries, f"releases.{project}")
    ]
    cases = (*commits, *releases)
    names = {each.name for each in cases}
    if len(names) != len(cases):
        raise ListError("the list names a case twice")
    refused = {name: str(why) for name, why in _table(document, "rightly_refused").items()}
    if unknown := refused.keys() - names:
        raise ListError(f"rightly_refused: {min(unknown)} is not in the list")
    for project in {each.project for each in cases}:
        _matching(_PROJECT, project, "a project's name")
    return CaseList(cases, refused)


def choose(cases: Iterable[Case], only: Sequence[str], sample: int | None) -> list[Case]:
    """Return the cases to judge: one of each project, then a second of each, and so on.

    Args:
        cases: all of them.
        only: names of projects or cases; empty for all.
        sample: the most to give; None for all.

    Raises:
        ListError: a name in `only` is neither a project nor a case.
    """
    every = list(cases)
    if unknown := [name for name in only if not any(name in (each.project, each.name) for each in every)]:
        raise ListError(f"--only {unknown[0]}: the list has neither a project nor a case of this name")
    wanted = [each for each in every if not only or each.project in only or each.name in only]
    by_project: dict[str, list[Case]] = {}
    for each in wanted:
        by_project.setdefault(each.project, []).append(each)
    rounds = chain.from_iterable(zip_longest(*by_project.values()))
    return [each for each in rounds if each is not None][:sample]


def _table(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise ListError(f"{name} must be a table")
    return cast("Mapping[str, object]", value)


def _entries(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ListError(f"{where} must be a list")
    return cast("list[object]", value)


def _versions(entry: object, where: str) -> tuple[str, str]:
    pair = _entries(entry, where)
    if len(pair) != 2:
        raise ListError(f"{where}: {entry} must be two versions")
    earlier, later = (_matching(_VERSION, each, where) for each in pair)
    return earlier, later


def _matching(form: re.Pattern[str], entry: object, where: str) -> str:
    if not isinstance(entry, str) or not form.fullmatch(entry):
        raise ListError(f"{where}: {entry!r} is not of the form {form.pattern}")
    return entry

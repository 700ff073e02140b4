"""The interface between a type checker and the type gate."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.runners.evaluators.static.baseline import Finding


class SettingsUnusableError(Exception):
    """This version of the checker cannot use the project's own configuration."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of a checker.

    Attributes:
        found: errors, files relative to the tree.
        unfinished: why files of the candidate's work were not checked; `""` if all were.
        unchecked: files that the candidate has not changed and that were not checked.
    """

    found: tuple[Finding, ...]
    unfinished: str = ""
    unchecked: tuple[str, ...] = ()


class TypeChecker(Protocol):
    """Checks the files of a copy under settings that are already chosen."""

    @property
    def name(self) -> str:
        """The tool's name, for people."""
        ...

    @property
    def source(self) -> str:
        """Who chose the settings, for people."""
        ...

    @property
    def configured(self) -> bool:
        """True if the base configures this tool, whether or not its settings can be used."""
        ...

    def covers(self, name: str) -> bool:
        """Return True if the settings include this file."""
        ...

    def follows(self, name: str) -> bool:
        """Return True if the project's own call reports errors in this file when a checked one imports it."""
        ...

    def needs_all(self, files: Sequence[str]) -> bool:
        """Return True if findings in some files depend on which others are checked in the same call."""
        ...

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check files of a copy. The copy holds all other Python files, too, and this call may change it.

        Args:
            tree: the copy.
            files: the files to check.
            changed: the files among them that matter most.

        Raises:
            SettingsUnusableError: see there.
            ToolTroubleError: there is no usable report.
        """
        ...

"""What a type checker is to the type gate."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.runners.evaluators.static.baseline import Finding


class SettingsUnusableError(Exception):
    """The project's own configuration is not one that this version of the checker can use."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a checker found.

    Attributes:
        found: errors, files relative to the tree.
        unfinished: why files of the candidate's work were not checked; `""` when all were.
        unchecked: files that the candidate has not changed and that were not checked.
    """

    found: tuple[Finding, ...]
    unfinished: str = ""
    unchecked: tuple[str, ...] = ()


class TypeChecker(Protocol):
    """Checks the files of a copy under settings that are already chosen."""

    @property
    def name(self) -> str:
        """The tool, for people."""
        ...

    @property
    def source(self) -> str:
        """Who chose the settings, for people."""
        ...

    @property
    def configured(self) -> bool:
        """True when the base configures this tool, whether or not its settings can be used."""
        ...

    def covers(self, name: str) -> bool:
        """True when the settings have this file checked."""
        ...

    def needs_all(self, files: Sequence[str]) -> bool:
        """True when what is found in some files depends on which others are checked in the same call."""
        ...

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check files of a copy that this call may change; it holds all other Python files, too.

        Args:
            tree: the copy.
            files: those to check.
            changed: those of them that matter most.

        Raises:
            SettingsUnusableError: see there.
            ToolTroubleError: there is no report that can be used.
        """
        ...

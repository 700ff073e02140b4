"""The owner's number in the environment of every child process.

It shows which processes a dead owner left.
"""

from collections.abc import Mapping

OWNER_VARIABLE = "PHASERUNNER_OWNER"
"""Environment variable of every child of a process that owns files and processes; see `ownership`."""

_owner: dict[str, str] = {}


def mark_children(owner: str | None) -> None:
    """Mark every process started from now on with the owner's number, or with none."""
    _owner.clear()
    if owner is not None:
        _owner[OWNER_VARIABLE] = owner


def children_mark() -> Mapping[str, str]:
    """Return the variable for every child, or an empty mapping if children are not marked."""
    return dict(_owner)


def owner_mark() -> str:
    """Return the number with which this process marks its children; empty if it does not."""
    return _owner.get(OWNER_VARIABLE, "")

"""The number of its owner that every child process bears: by it others find what a dead owner left."""

from collections.abc import Mapping

OWNER_VARIABLE = "PHASERUNNER_OWNER"
"""Environment variable of every child of a process that owns what it makes; see `ownership`."""

_owner: dict[str, str] = {}


def mark_children(owner: str | None) -> None:
    """Mark every process that is started from now on with the owner's number, or with none."""
    _owner.clear()
    if owner is not None:
        _owner[OWNER_VARIABLE] = owner


def children_mark() -> Mapping[str, str]:
    """The variable that every child gets; empty when children bear no number."""
    return dict(_owner)


def owner_mark() -> str:
    """The number that this process's children bear; empty when they bear none."""
    return _owner.get(OWNER_VARIABLE, "")

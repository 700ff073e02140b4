"""Records what a tree's files do not say: when its commit was made, and how git describes it.

The record is beside the tree, never inside, where the judged code could find it.
"""

import json
import re
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

_MAX_BYTES = 10_000
# Earlier dates are artificial, such as those of commits made from an archive.
_FIRST_COMMIT = datetime(2005, 1, 1, tzinfo=UTC).timestamp()
_DESCRIBED = re.compile(r"[A-Za-z0-9][\w.+/-]{0,200}-\d+-g[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class TreeOrigin:
    """The origin of a tree.

    Attributes:
        committed: time of its commit in seconds since 1970; 0 if unknown.
        described: the commit's `git describe --long` text, such as `v1.2-3-g4f2a`; empty if unknown.
    """

    committed: int = 0
    described: str = ""


def write_origin(tree: Path, origin: TreeOrigin) -> None:
    """Record the origin of a tree.

    Raises:
        OSError: the directory that holds the tree cannot be written to.
    """
    _place(tree).write_text(json.dumps(asdict(origin)), encoding="utf-8")


def origin_of(tree: Path) -> TreeOrigin:
    """Return the origin of a tree, or an empty one if there is no readable record."""
    path = _place(tree)
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
            return TreeOrigin()
        noted: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return TreeOrigin()
    fields = cast("dict[str, object]", noted) if isinstance(noted, dict) else {}
    committed, described = fields.get("committed"), str(fields.get("described", ""))
    return TreeOrigin(
        committed if type(committed) is int and committed > 0 else 0,
        described if is_description(described) else "",
    )


def month_after(committed: int, now: float | None = None) -> str:
    """Return the first day of the month after a commit. By then its dependencies had been released.

    Whole months let neighbouring commits share an environment. The text is empty for a commit of this month
    or of unknown time.

    Args:
        committed: in seconds since 1970; 0 if unknown.
        now: the present time in seconds since 1970; None reads the clock.
    """
    if committed < _FIRST_COMMIT:
        return ""
    made = datetime.fromtimestamp(committed, UTC)
    return months_later(f"{made.year}-{made.month:02}-01", 1, now)


def months_later(day: str, months: int, now: float | None = None) -> str:
    """Return the day some months after the first day of a month; empty if that day has not begun.

    Args:
        day: such as `2024-02-01`.
        months: how many.
        now: the present time in seconds since 1970; None reads the clock.
    """
    year, month = int(day[:4]), int(day[5:7]) - 1 + months
    first = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return first.date().isoformat() if first.timestamp() < (time.time() if now is None else now) else ""


def is_description(text: str) -> bool:
    """Return True if a text has the form of `git describe --long`, in characters that any file may hold."""
    return _DESCRIBED.fullmatch(text) is not None and ".." not in text


def _place(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.origin")

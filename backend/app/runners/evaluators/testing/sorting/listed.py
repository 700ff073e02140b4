"""Names some of many in a sentence."""

from collections.abc import Sequence

_LISTED = 5


def listed(names: Sequence[str]) -> str:
    """Return the first names in backticks, and how many more there are."""
    shown = ", ".join(f"`{each}`" for each in names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown

"""Which requirements of tests and development an environment does without, as they have no wheel."""

import re
from collections.abc import Collection, Iterator

from app.workspaces.environments.naming import names_in, normal

MOST_LEFT_OUT = 6
"""More requirements than these are not left out of one environment."""

_NO_WHEEL = re.compile(
    r"has no usable wheels|have no usable wheels|Wheels are required for|no binary distribution"
)
_REQUIRED = re.compile(r"you\s+require\s+([A-Za-z0-9][\w.-]*)")
_UNBUILT = re.compile(r"Distribution `([A-Za-z0-9][\w.-]*?)==")


def without_wheel(said: str) -> frozenset[str]:
    """Name the requirements that uv cannot satisfy without building something, by what it says.

    Args:
        said: uv's complaint, which names the requirements at the top of each chain.
    """
    if not _NO_WHEEL.search(said):
        return frozenset()
    return frozenset(map(normal, [*_REQUIRED.findall(said), *_UNBUILT.findall(said)]))


def without_lines(text: str, names: Collection[str]) -> str:
    """Give a requirement file without the requirements of these normal names, hashes included."""
    return "".join(_kept(text, names))


def _kept(text: str, names: Collection[str]) -> Iterator[str]:
    dropping = False
    for line in text.splitlines(keepends=True):
        if not line[:1].isspace():
            dropping = not names_in([line]).isdisjoint(names)
        if not dropping:
            yield line

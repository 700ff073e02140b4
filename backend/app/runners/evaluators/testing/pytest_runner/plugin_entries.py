"""Finds the installed pytest plug-ins with their distributions, on every Python that projects pin."""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import NamedTuple

_GROUP = "pytest11"


class Plugin(NamedTuple):
    """An installed plug-in: its entry point and its distribution."""

    entry: EntryPoint
    dist: "Distribution | None"

    @property
    def name(self) -> str:
        """The name by which pytest knows it."""
        return self.entry.name

    @property
    def value(self) -> str:
        """Its module, with an object in it or not."""
        return self.entry.value


@lru_cache(maxsize=1)
def plugin_entries() -> "list[Plugin]":
    """Return the interpreter's plug-ins. First call this before a tree can be imported.

    To find them takes longer than to load most plug-ins, as it reads the metadata of every distribution.
    """
    found = entry_points()
    if hasattr(found, "select"):
        return [Plugin(each, each.dist) for each in found.select(group=_GROUP)]
    return list(_plugins_before_310())


def _plugins_before_310() -> "Iterator[Plugin]":
    """Yield the plug-ins by distribution, because entry points do not know theirs before Python 3.10."""
    seen: set[str] = set()
    for each in distributions():
        name = name_of(each)
        for entry in each.entry_points if name not in seen else ():
            if entry.group == _GROUP:
                yield Plugin(entry, each)
        seen.add(name)


def name_of(found: Distribution) -> str:
    """Return a distribution's normal name. Before Python 3.10 only its metadata have the name."""
    return normal(found.metadata["Name"] or "")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

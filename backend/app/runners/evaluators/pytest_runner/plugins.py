"""Which pytest plugins a run gets."""

import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

_SCANNED_BYTES = 8_000_000


def needed_plugins(sources: "list[str]") -> "list[str]":
    """Name the installed plugins that the given files mention.

    Loading every installed plugin costs more time than most test runs; a project that needs one says so in
    its configuration or in its tests (a marker, a fixture, an import).
    """
    text = _read_all(sources)
    return [
        name
        for name in sorted(installed_plugins())
        if re.search(rf"(?<![a-z0-9]){re.escape(_word(name))}", text)
    ]


def installed_plugins() -> "set[str]":
    """Name the plugins that the interpreter has; call it before a tree is on the import path."""
    found = entry_points()
    # Before Python 3.12 this may be a mapping of groups.
    chosen = found.select(group="pytest11") if hasattr(found, "select") else ()
    return {entry.name for entry in chosen}


def is_installed(plugin: str) -> bool:
    """Tell whether a plugin named by `-p` can be had without the tree that is run."""
    name = plugin[3:] if plugin.startswith("no:") else plugin
    if plugin.startswith("no:") or name in installed_plugins():
        return True
    top = name.partition(".")[0]
    return find_spec(top) is not None or find_spec(f"_pytest.{top}") is not None


def _word(plugin: str) -> str:
    return re.sub(r"^pytest[_-]?|[_-]?pytest$", "", plugin.lower()) or plugin


def _read_all(sources: "list[str]") -> str:
    parts: list[str] = []
    left = _SCANNED_BYTES
    for source in sources:
        try:
            with Path(source).open("rb") as file:
                part = file.read(left)
        except OSError:
            continue
        left -= len(part)
        parts.append(part.decode("utf-8", "replace").lower())
    return "\n".join(parts)

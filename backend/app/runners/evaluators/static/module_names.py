"""The module names that the type checker gives files. Two files with one name cannot be checked together."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_INIT = ("__init__.py", "__init__.pyi")


def batches(files: Iterable[str], search: Collection[str]) -> list[dict[str, str]]:
    """Split files so that module names are unique within a batch. Usually there is one batch.

    Args:
        files: POSIX paths relative to the tree; earlier ones come into earlier batches.
        search: directories from which modules are imported besides the tree's root.
    """
    names = list(files)
    packages = {posixpath.dirname(name) for name in names if posixpath.basename(name) in _INIT}
    roots = {"", *(place for place in search if place != ".")}
    made: list[dict[str, str]] = []
    for name in names:
        module = _module(name, packages, roots)
        free = next((batch for batch in made if module not in batch), None)
        if free is None:
            free = dict[str, str]()
            made.append(free)
        free[module] = name
    return made


def nameable(files: Iterable[str]) -> dict[str, str]:
    """Return each file that needs another path for a checker to name it, with that path.

    A package in a directory whose name is no identifier (`my-app/__init__.py`) cannot be imported by a
    statement, and mypy refuses it. Under another name (`my_app`) it is code like any other.
    """
    names = list(files)
    packages = {posixpath.dirname(name) for name in names if posixpath.basename(name) in _INIT}
    taken = {*names, *(directory for name in names for directory in _directories(name))}
    fitting: dict[str, str] = {}
    for directory in sorted(packages):
        parent, last = posixpath.split(directory)
        if last and not last.isidentifier():
            fitting[directory] = _free(
                parent, re.sub(r"\W", "_", f"_{last}" if last[0].isdigit() else last), taken
            )
    if not fitting:
        return {}
    renamed = {name: _through(name, fitting) for name in names}
    return {name: new for name, new in renamed.items() if name != new}


def _directories(name: str) -> Iterator[str]:
    while name := posixpath.dirname(name):
        yield name


def _free(parent: str, wanted: str, taken: set[str]) -> str:
    while posixpath.join(parent, wanted) in taken:
        wanted += "_"
    taken.add(posixpath.join(parent, wanted))
    return wanted


def _through(name: str, fitting: Mapping[str, str]) -> str:
    """Replace the names of the directories in a file's path."""
    parts = name.split("/")
    way = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    return "/".join(fitting.get(each, part) for each, part in zip(way, parts, strict=True))


def _module(name: str, packages: Collection[str], roots: Collection[str]) -> str:
    directory, filename = posixpath.split(name)
    prefix = _prefix(directory, packages, roots) or ""
    stem = posixpath.splitext(filename)[0]
    if stem == "__init__":
        return prefix
    return f"{prefix}.{stem}" if prefix else stem


def _prefix(directory: str, packages: Collection[str], roots: Collection[str]) -> str | None:
    """Return the package name of a directory, `""` for a root, or None for a directory that is neither."""
    if directory in roots:
        return ""
    parent, name = posixpath.split(directory)
    above = _prefix(parent, packages, roots) if name.isidentifier() else None
    if directory in packages:
        above = above or ""
    elif above is None:
        return None
    return f"{above}.{name}" if above else name

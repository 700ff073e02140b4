"""Which module name the type checker gives a file; two files of one name cannot be checked together."""

import posixpath
from collections.abc import Collection, Iterable

_INIT = ("__init__.py", "__init__.pyi")


def batches(files: Iterable[str], search: Collection[str]) -> list[list[str]]:
    """Split files so that within a batch every module name is unique; usually there is one batch.

    Files in a package whose directory is no identifier (`my-app/__init__.py`) belong to no batch: no
    import can name them and mypy refuses them.

    Args:
        files: POSIX paths relative to the tree.
        search: directories from which modules are imported besides the tree's root.
    """
    names = list(files)
    packages = {posixpath.dirname(name) for name in names if posixpath.basename(name) in _INIT}
    roots = {"", *(place for place in search if place != ".")}
    made: list[dict[str, str]] = []
    for name in names:
        if _is_unnameable(posixpath.dirname(name), packages):
            continue
        module = _module(name, packages, roots)
        free = next((batch for batch in made if module not in batch), None)
        if free is None:
            free = dict[str, str]()
            made.append(free)
        free[module] = name
    return [list(batch.values()) for batch in made]


def _is_unnameable(directory: str, packages: Collection[str]) -> bool:
    while directory:
        if directory in packages and not posixpath.basename(directory).isidentifier():
            return True
        directory = posixpath.dirname(directory)
    return False


def _module(name: str, packages: Collection[str], roots: Collection[str]) -> str:
    directory, filename = posixpath.split(name)
    prefix = _prefix(directory, packages, roots) or ""
    stem = posixpath.splitext(filename)[0]
    if stem == "__init__":
        return prefix
    return f"{prefix}.{stem}" if prefix else stem


def _prefix(directory: str, packages: Collection[str], roots: Collection[str]) -> str | None:
    """Name the package a directory is, `""` for a root, None for a directory that is neither."""
    if directory in roots:
        return ""
    parent, name = posixpath.split(directory)
    above = _prefix(parent, packages, roots) if name.isidentifier() else None
    if directory in packages:
        above = above or ""
    elif above is None:
        return None
    return f"{above}.{name}" if above else name

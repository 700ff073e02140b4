"""Finds new files that checked files import, although the base's settings do not name them."""

import ast
import posixpath
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

_ROOTS = ("", "src")


def followed_files(tree: Path, checked: Sequence[str], new: Collection[str]) -> list[str]:
    """Return the new files that checked ones import, directly or through each other.

    Args:
        tree: the directory with the files.
        checked: files that are checked anyway, as POSIX paths.
        new: further files that may be followed.
    """
    left = {name for name in new if name not in checked}
    waiting, found = list(checked), list[str]()
    while waiting and left:
        name = waiting.pop()
        reached = sorted(left.intersection(_imported(tree / name, name)))
        left.difference_update(reached)
        found += reached
        waiting += reached
    return found


def _imported(path: Path, name: str) -> Iterator[str]:
    """Yield the paths that the imports of a file may mean."""
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    here = posixpath.dirname(name)
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield from _paths_of(each.name, _ROOTS)
            case ast.ImportFrom(module=start, names=names, level=level):
                roots = [_above(here, level - 1)] if level else _ROOTS
                for each in names:
                    yield from _paths_of(".".join(filter(None, (start, each.name))), roots)
            case _:
                pass


def _above(directory: str, levels: int) -> str:
    for _ in range(levels):
        directory = posixpath.dirname(directory)
    return directory


def _paths_of(dotted: str, roots: Sequence[str]) -> Iterator[str]:
    """Yield the files of a module, of the packages around it, and of the module that a name may be in."""
    parts = dotted.split(".")
    for count in range(1, len(parts) + 1):
        for root in roots:
            base = posixpath.join(root, *parts[:count])
            yield from (f"{base}.py", f"{base}/__init__.py")

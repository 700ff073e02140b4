"""Finds new files that provide a module which the base has elsewhere. Tests may then import the other one."""

import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from app.runners.evaluators.source_places import source_places
from app.runners.evaluators.testing.source_questions.new_source import NewSource


def shadows(source: NewSource) -> Iterator[tuple[str, str, str]]:
    """Yield new files, the module that each provides, and what else provides it.

    That is a file of the tree that stays where it was at the base, or Python itself.
    """
    places = ("", *source_places(source.workspace))
    for name in source.texts:
        if (source.base / name).exists():
            continue
        for place in places:
            module = _module_in(name, place)
            if module is not None and (other := _other(source, name, module, place, places)):
                yield name, module, other
                break


def _module_in(name: str, place: str) -> str | None:
    """Return the top-level module that a file is, or is a part of, if imports begin in a directory."""
    path = PurePosixPath(name)
    if not path.is_relative_to(place):
        return None
    first, *others = path.relative_to(place).parts
    return first if others else first.removesuffix(".py")


def _other(source: NewSource, name: str, module: str, own: str, places: tuple[str, ...]) -> str:
    """Return what provides a module besides a new file, which does so from the directory `own`."""
    here = PurePosixPath(own, module)
    if any((source.base / each).exists() for each in (here, here.with_name(f"{module}.py"))):
        return ""
    files = [PurePosixPath(each, file) for each in places if each != own for file in _files(module)]
    for file in files:
        if _has(source.base, file) and _has(source.workspace, file) and not _is_same(source, str(file), name):
            return str(file)
    is_pythons = module in sys.stdlib_module_names and module != "__main__"
    return "Python" if is_pythons else ""


def _files(module: str) -> tuple[str, str]:
    return f"{module}/__init__.py", f"{module}.py"


def _is_same(source: NewSource, one: str, other: str) -> bool:
    """Return True if one is a link to the other."""
    return (source.workspace / one).resolve() == (source.workspace / other).resolve()


def _has(tree: Path, file: PurePosixPath) -> bool:
    return (tree / file).is_file()

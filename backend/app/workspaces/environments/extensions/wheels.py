"""Takes the compiled modules out of a wheel, and lays them beside the sources of a tree."""

import os
import shutil
import stat
import sys
import zipfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path, PurePosixPath

_COMPILED = ".so"
_MOST_BYTES = 1_000_000_000
_COMPARED = 20
"""Files of a wheel that are sought in the tree."""
_LIST = "modules"
_OF_TESTS = frozenset({"test", "tests", "testing"})
_RESERVED = sys.stdlib_module_names | {
    *("pytest", "_pytest", "pluggy", "conftest", "sitecustomize", "usercustomize")
}


def keep_compiled(wheel: Path, tree: Path, place: Path) -> list[str]:
    """Store the compiled modules of a wheel under their paths in the tree from which it was built.

    Left out are modules of tests, those of which the tree has the source in Python, because they would hide
    it, and those that would replace a module of Python or pytest.

    Args:
        wheel: the file.
        tree: the tree.
        place: an empty directory.

    Returns:
        The paths, relative to the tree.

    Raises:
        OSError, ValueError: the wheel cannot be read, or is too large.
    """
    if not stat.S_ISREG(os.lstat(wheel).st_mode):
        raise ValueError("the build made no wheel, but a link or a pipe")
    kept: list[str] = []
    left = _MOST_BYTES
    try:
        with zipfile.ZipFile(wheel) as archive:
            root = _root_in(tree, archive.namelist())
            for each in archive.infolist():
                name = PurePosixPath(root, each.filename)
                if not _is_kept(PurePosixPath(each.filename)) or _has_source(tree, name):
                    continue
                left -= each.file_size
                if left < 0:
                    raise ValueError(f"the compiled modules take more than {_MOST_BYTES:,} bytes")
                target = place / _LIST / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(each) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
                target.chmod(0o755)
                kept.append(str(name))
    except zipfile.BadZipFile as error:
        raise ValueError(f"the build made no valid wheel: {error}") from error
    return kept


def lay_compiled(place: Path, copy: Path) -> None:
    """Copy stored modules into a copy of a tree. Files that the copy already has stay.

    Args:
        place: the directory that `keep_compiled` filled.
        copy: the copy.

    Raises:
        OSError: the copy cannot be written to.
    """
    stored = place / _LIST
    for directory, _, names in os.walk(stored):
        for name in names:
            source = Path(directory, name)
            target = copy / source.relative_to(stored)
            inside = target.parent.is_dir() and target.parent.resolve().is_relative_to(copy.resolve())
            free = not (target.exists() or target.is_symlink() or _has_source(copy, PurePosixPath(target)))
            if inside and free:
                shutil.copyfile(source, target)


def _root_in(tree: Path, names: Collection[str]) -> str:
    """Return the directory of a tree whose files a wheel has at its top, such as `src`; `""` is the tree."""
    modules = [each for each in names if each.endswith(".py")][:_COMPARED]
    candidates: Counter[str] = Counter()
    for directory, below, files in os.walk(tree):
        place = Path(directory).relative_to(tree)
        below[:] = [each for each in below if not each.startswith(".")]
        present = {str(place / each) for each in files if each.endswith(".py")}
        for module in modules:
            for path in present:
                if path == module or path.endswith(f"/{module}"):
                    candidates[path[: len(path) - len(module)].rstrip("/")] += 1
    return max(candidates, key=lambda each: (candidates[each], -len(each))) if candidates else ""


def _is_kept(name: PurePosixPath) -> bool:
    """Return True for a compiled module at a path in a wheel that belongs to the project's own code."""
    if name.suffix != _COMPILED or name.is_absolute() or ".." in name.parts:
        return False
    top = name.parts[0].partition(".")[0]
    return top not in _RESERVED and _OF_TESTS.isdisjoint(name.parts)


def _has_source(tree: Path, name: PurePosixPath) -> bool:
    """Return True if a tree has a module in Python, or a package, with the name of a compiled one."""
    module = name.name.partition(".")[0]
    return (tree / name.parent / f"{module}.py").exists() or (tree / name.parent / module).is_dir()

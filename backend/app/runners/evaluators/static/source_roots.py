"""Finds the directories from which the packages of a repository with several projects are imported."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_PATTERNS = ("*/src", "*/*/src", "*/*/*/src")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_NOT_OURS = frozenset({"node_modules", "site-packages", "vendor", "venv"})
_MOST = 200


def source_roots(base: Path) -> tuple[str, ...]:
    """Return the `src` directories of the projects below the root of a tree, such as `packages/core/src`.

    In its workspace, such a project is installed, so that the others can import it. Two projects may hold
    packages of the same name, as services of one kind do. These are not installed together and left out.
    """
    roots = {root.relative_to(base).as_posix(): set(_modules(root)) for root in _sources(base)}
    count = Counter(name for names in roots.values() for name in names)
    count.update(_modules(base))
    count.update(_modules(base / "src"))
    return tuple(root for root, names in roots.items() if names and all(count[each] == 1 for each in names))


def _sources(base: Path) -> list[Path]:
    found = [each for pattern in _PATTERNS for each in sorted(base.glob(pattern)) if _is_source(each, base)]
    return found if len(found) <= _MOST else []


def _is_source(path: Path, base: Path) -> bool:
    parts = path.relative_to(base).parts
    if any(part.startswith(".") or part in _NOT_OURS for part in parts):
        return False
    is_plain = path.is_dir() and path.resolve() == base.resolve() / Path(*parts)
    return is_plain and any((path.parent / each).is_file() for each in _MANIFESTS)


def _modules(root: Path) -> Iterator[str]:
    """Yield the names of the modules and packages in a directory."""
    for each in root.iterdir() if root.is_dir() else ():
        is_package = each.is_dir() and each.name.isidentifier() and next(each.glob("**/*.py"), None)
        if each.suffix == ".py" or is_package:
            yield each.stem

"""Finds out whether a project's build compiles something, and identifies the state of what it compiles."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from app.workspaces.environments.reading import DeclarationError, read_text, read_toml, table, texts

_SOURCES = (
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".s", ".S"),
    *(".pyx", ".pxd", ".pxi", ".rs", ".f", ".f90", ".cmake"),
)
_BUILD_FILES = frozenset({"CMakeLists.txt", "meson.build", "Cargo.toml", "Cargo.lock"})
_ELSEWHERE = frozenset(
    {"test", "tests", "testing", "docs", "doc", "examples", "benchmarks", "node_modules", "__pycache__"}
)
"""Directories whose sources are no part of the package. Tests have sources that they compile themselves."""

_IN_SETUP = re.compile(r"\b(?:ext_modules|Extension\(|cythonize\(|rust_extensions|cffi_modules)")
_BACKENDS = ("maturin", "mesonpy", "scikit_build_core", "py_build_cmake", "setuptools_rust")
_DEFAULT_REQUIRES = ["setuptools", "wheel"]


def is_compiled(tree: Path) -> bool:
    """Return True if a project's build compiles parts of it from sources in its tree."""
    try:
        document = read_toml(tree, "pyproject.toml")
        setup = read_text(tree, "setup.py") or ""
    except DeclarationError:
        return False
    system = table(document, "build-system")
    backend = str(system.get("build-backend") or "")
    poetry = table(document, "tool", "poetry")
    asked = (
        _IN_SETUP.search(setup) is not None
        or backend.startswith(_BACKENDS)
        or bool(system.get("backend-path"))
        or bool(table(document, "tool", "setuptools").get("ext-modules"))
        or bool(poetry.get("build"))
    )
    return asked and any(True for _ in _sources(tree))


def build_requirements(tree: Path) -> list[str]:
    """Return what a project's build needs.

    Raises:
        DeclarationError: `pyproject.toml` cannot be read.
    """
    system = table(read_toml(tree, "pyproject.toml"), "build-system")
    return texts(system["requires"]) if "requires" in system else list(_DEFAULT_REQUIRES)


def state_of(tree: Path) -> str:
    """Return a digest of the sources that a build compiles. Trees with the same digest share its result.

    Settings of the build in `pyproject.toml` and `setup.py` do not count, because a tree in which tests run
    has those of the base.

    Raises:
        OSError: a file cannot be read.
    """
    made = hashlib.sha256()
    for path in sorted(_sources(tree)):
        name = path.relative_to(tree).as_posix()
        made.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode(errors="replace"))
    return made.hexdigest()


def _sources(tree: Path) -> Iterator[Path]:
    for directory, below, names in os.walk(tree):
        below[:] = [each for each in below if each not in _ELSEWHERE and not each.startswith(".")]
        for name in names:
            path = Path(directory, name)
            if (name.endswith(_SOURCES) or name in _BUILD_FILES) and path.is_file() and not path.is_symlink():
                yield path

"""The names that a module's import statements bind, and the origin of each. Pure."""

import ast
from collections.abc import Iterable, Iterator

_SUCCESSORS = {
    "backports.zoneinfo": "zoneinfo",
    "importlib_metadata": "importlib.metadata",
    "importlib_resources": "importlib.resources",
    "mock": "unittest.mock",
    "typing_extensions": "typing",
    "unittest2": "unittest",
}
"""Packages that Python has by now, and their names there. The other way round, a tree could bring its own."""


def imports_of(body: Iterable[ast.stmt]) -> dict[str, str]:
    """Return the names that imports of a body bind, each with its origin.

    A star import of a module is listed as `* of module`.
    """
    found: dict[str, str] = {}
    for statement in body:
        if isinstance(statement, ast.Import):
            found.update((_bound(each), f"import {_target(each)}") for each in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            module = "." * statement.level + (statement.module or "")
            # The old names of the same classes. Both modules are Python's own and cannot be replaced.
            module = "typing" if module == "collections.abc" else module
            for each in statement.names:
                name = f"* of {module}" if each.name == "*" else _bound(each)
                found[name] = f"from {module} import {each.name}"
    return found


def is_successor(old: str, new: str) -> bool:
    """Return True if Python itself now has what was imported from a package before."""
    module, _, name = old.removeprefix("from ").partition(" import ")
    if old == "import mock":
        return new == "from unittest import mock"
    return module in _SUCCESSORS and new == f"from {_SUCCESSORS[module]} import {name}"


def imported_names(aliases: Iterable[ast.alias]) -> Iterator[str]:
    """Yield the names that some parts of import statements bind."""
    return map(_bound, aliases)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _target(alias: ast.alias) -> str:
    """Return the module to which the bound name refers: `import a.b` binds `a`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]

"""The names that a module's import statements bind, and the origin of each. Pure."""

import ast
from collections.abc import Iterable, Iterator


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


def imported_names(aliases: Iterable[ast.alias]) -> Iterator[str]:
    """Yield the names that some parts of import statements bind."""
    return map(_bound, aliases)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _target(alias: ast.alias) -> str:
    """Return the module to which the bound name refers: `import a.b` binds `a`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]

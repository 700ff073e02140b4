"""Tells whether a table of a parametrised test's rows only got longer. Pure."""

import ast
from collections.abc import Iterable, Iterator

_VIEWS = frozenset({"items", "keys", "values"})
_COPIES = frozenset({"list", "tuple", "sorted"})


def assigned_names(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the plain names that assignments among some statements bind."""
    for each in statements:
        if isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def has_more_rows(old: ast.stmt, new: ast.stmt, module: ast.AST) -> bool:
    """Return True for a table that only got longer, and that only parametrisations use.

    Args:
        old: a statement of the base that may bind a table.
        new: the candidate's statement.
        module: the base's module.
    """
    if not (isinstance(old, ast.Assign) and isinstance(new, ast.Assign)):
        return False
    rows, more = _rows(old.value), _rows(new.value)
    targets = [list(map(ast.dump, each.targets)) for each in (old, new)]
    if rows is None or more is None or type(old.value) is not type(new.value) or targets[0] != targets[1]:
        return False
    left = iter(more)
    return all(each in left for each in rows) and all(
        _serves_rows(name, module) for name in assigned_names([old])
    )


def _rows(table: ast.expr) -> list[str] | None:
    """Return the rows of a list, a tuple, or a dictionary without doubtful keys; None for anything else."""
    if isinstance(table, ast.List | ast.Tuple):
        return list(map(ast.dump, table.elts))
    if not isinstance(table, ast.Dict):
        return None
    keys = [each.value for each in table.keys if isinstance(each, ast.Constant)]
    # A key that stands there twice replaces the earlier row, and `True` is the same key as 1.
    if len(set(keys)) < len(table.keys):
        return None
    return [f"{key!r}: {ast.dump(value)}" for key, value in zip(keys, table.values, strict=True)]


def _serves_rows(name: str, module: ast.AST) -> bool:
    reads = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    rows = [
        _unwrapped(node.args[1])
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("parametrize")
        and len(node.args) > 1
    ]
    return bool(reads) and all(any(each is row for row in rows) for each in reads)


def _unwrapped(rows: ast.expr) -> ast.expr:
    """Return the table in `table.items()`, `list(table)` and the like."""
    while isinstance(rows, ast.Call) and not rows.keywords:
        called = rows.func
        if isinstance(called, ast.Attribute) and called.attr in _VIEWS and not rows.args:
            rows = called.value
        elif isinstance(called, ast.Name) and called.id in _COPIES and len(rows.args) == 1:
            rows = rows.args[0]
        else:
            break
    return rows

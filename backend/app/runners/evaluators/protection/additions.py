"""Whether a new version of a Python file only adds to the old one, so that what was there still holds."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

_Imported = tuple[str, str, str | None]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def only_adds(before: bytes, after: bytes) -> bool:
    """Tell whether every statement of a file is still there, in order, with others besides.

    Comments and layout do not count. Imports may move. A class may get further members, a parametrised test
    further rows. A name that was bound is not bound again. What cannot be parsed adds nothing.
    """
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _extends(old.body, new.body)


def _extends(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> bool:
    imported, imports = set(_imports(old)), set(_imports(new))
    if not imported <= imports:
        return False
    wanted = [each for each in old if not isinstance(each, ast.Import | ast.ImportFrom)]
    bound = {name for each in old for name in _bound(each)}
    for each in new:
        if isinstance(each, ast.Import | ast.ImportFrom):
            continue
        if wanted and _same_or_wider(wanted[0], each):
            wanted.pop(0)
        elif bound & set(_bound(each)) or not _is_plain_addition(each):
            return False
    fresh = {name for each in imports - imported for name in _names_of([each])}
    return not wanted and not fresh & bound


def _is_plain_addition(statement: ast.stmt) -> bool:
    """A definition or a constant; whatever else is executed could change what is already there."""
    if isinstance(statement, _DEFINITIONS):
        return True
    return bool(list(_bound(statement))) and not any(
        name.startswith(("pytest", "__")) for name in _bound(statement)
    )


def _same_or_wider(old: ast.stmt, new: ast.stmt) -> bool:
    if ast.dump(old) == ast.dump(new):
        return True
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        return (
            old.name == new.name
            and _dumps(old.bases) == _dumps(new.bases)
            and _dumps(old.keywords) == _dumps(new.keywords)
            and _decorated_alike(old.decorator_list, new.decorator_list)
            and _extends(old.body, new.body)
        )
    if isinstance(old, ast.FunctionDef | ast.AsyncFunctionDef) and type(old) is type(new):
        assert isinstance(new, ast.FunctionDef | ast.AsyncFunctionDef)  # noqa: S101 - of the same type
        return (
            old.name == new.name
            and ast.dump(old.args) == ast.dump(new.args)
            and _dumps(old.body) == _dumps(new.body)
            and _decorated_alike(old.decorator_list, new.decorator_list)
        )
    return False


def _decorated_alike(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> bool:
    return all(
        one is not None
        and other is not None
        and (ast.dump(one) == ast.dump(other) or _has_more_rows(one, other))
        for one, other in zip_longest(old, new)
    )


def _has_more_rows(old: ast.expr, new: ast.expr) -> bool:
    """True for `parametrize` with the old rows in their order, and others besides."""
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call)):
        return False
    if not (isinstance(old.func, ast.Attribute) and old.func.attr == "parametrize"):
        return False
    if ast.dump(old.func) != ast.dump(new.func) or len(old.args) != 2 or len(new.args) != 2:
        return False
    names, rows = old.args
    if ast.dump(names) != ast.dump(new.args[0]) or _dumps(old.keywords) != _dumps(new.keywords):
        return False
    more = new.args[1]
    if not (isinstance(rows, ast.List | ast.Tuple) and isinstance(more, ast.List | ast.Tuple)):
        return False
    left = iter(_dumps(more.elts))
    return bool(rows.elts) and all(row in left for row in _dumps(rows.elts))


def _dumps(nodes: Iterable[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _imports(body: Iterable[ast.stmt]) -> Iterator[_Imported]:
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (("", alias.name, alias.asname) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (statement.module or "")
            yield from ((f"{module}:", alias.name, alias.asname) for alias in statement.names)


def _names_of(imports: Iterable[_Imported]) -> Iterator[str]:
    for _, name, alias in imports:
        yield alias or name.partition(".")[0]


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Give the names that a statement of a module or class binds: definitions, plain assignments, imports."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from _names_of(_imports([statement]))
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))

"""Finds functions of the base that newly hide every error of what they did before."""

import ast
from collections.abc import Iterator, Mapping, Sequence

_BROAD = frozenset({"Exception", "BaseException"})
_LEAST_SHARED = 0.5

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def hidden_errors(base: ast.Module, module: ast.Module) -> dict[str, int]:
    """Return the functions that hide every error of their former statements, each with the line.

    A function hides errors if it answers all of them with a fixed result or none. Its former statements may
    be in a new function that it calls.
    """
    before, now = dict(_functions(base)), dict(_functions(module))
    new = {name.rpartition(".")[2]: each for name, each in now.items() if name not in before}
    found: dict[str, int] = {}
    for name, function in now.items():
        old = before.get(name)
        if old is None or any(True for _ in _hiding(old)):
            continue
        known = set(_statements([old])) - {"pass"}
        for body, line in _hiding(function):
            inside = [*_statements(body), *_statements(_called(body, new))]
            if inside and sum(each in known for each in inside) >= _LEAST_SHARED * len(inside):
                found.setdefault(name, line)
    return found


def _called(body: Sequence[ast.stmt], new: Mapping[str, _Function]) -> list[ast.stmt]:
    """Return the statements of new functions that some statements call."""
    calls = [each for part in body for each in ast.walk(part) if isinstance(each, ast.Call)]
    names = {ast.unparse(each.func).rpartition(".")[2] for each in calls}
    return [each for name in sorted(names) if name in new for each in new[name].body]


def returns_in_finally(module: ast.Module) -> list[int]:
    """Return the lines on which a function returns in `finally`, so that no error leaves it."""
    tries = [each for each in ast.walk(module) if isinstance(each, ast.Try | ast.TryStar)]
    return [line for each in tries for line in _returns(each.finalbody)]


def _statements(body: Sequence[ast.stmt]) -> list[str]:
    return [_does(each) for part in body for each in ast.walk(part) if isinstance(each, ast.stmt)]


def _does(statement: ast.stmt) -> str:
    """Return what a statement computes, whether it returns, keeps or drops that."""
    if isinstance(statement, ast.Return | ast.Assign | ast.Expr) and statement.value is not None:
        return ast.unparse(statement.value)
    return ast.unparse(statement)


def _functions(module: ast.Module) -> Iterator[tuple[str, _Function]]:
    """Yield functions with their names, those of classes with the class."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, _Function)
            )
        elif isinstance(node, ast.Module):
            yield from ((each.name, each) for each in node.body if isinstance(each, _Function))


def _hiding(function: _Function) -> Iterator[tuple[Sequence[ast.stmt], int]]:
    """Yield the statements whose errors are hidden, with the line of what hides them."""
    for node in ast.walk(function):
        match node:
            case ast.Try(body=body, handlers=handlers):
                for each in handlers:
                    if _is_broad(each.type) and all(map(_says_nothing, each.body)):
                        yield body, each.lineno
            case ast.With(items=items, body=body):
                if any(_suppresses_all(each.context_expr) for each in items):
                    yield body, node.lineno
            case _:
                continue


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(ast.unparse(each) in _BROAD for each in kinds)


def _suppresses_all(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] != "suppress":
        return False
    return any(ast.unparse(each) in _BROAD for each in node.args)


def _says_nothing(node: ast.stmt) -> bool:
    """Return True for a statement that does not use the error and calls nothing that could."""
    if isinstance(node, ast.Pass | ast.Continue | ast.Break):
        return True
    if isinstance(node, ast.Return | ast.Assign | ast.Expr) and node.value is not None:
        return not any(isinstance(each, ast.Call | ast.Await) for each in ast.walk(node.value))
    return isinstance(node, ast.Return)


def _returns(body: Sequence[ast.stmt]) -> Iterator[int]:
    for statement in body:
        for each in ast.walk(statement):
            if isinstance(each, ast.Return):
                yield each.lineno

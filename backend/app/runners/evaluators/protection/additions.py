"""Decides which statements may be added to a test without weakening it. Pure."""

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

# Names with effects beyond their test: they skip it, end it, or change what other tests see.
REACHING = frozenset(
    {
        *("monkeypatch", "patch", "mocker", "mock", "setattr", "delattr", "setitem", "skip", "skipTest"),
        *("xfail", "importorskip", "exit", "_exit", "quit", "exec", "eval", "globals", "locals", "vars"),
        *("__dict__", "__setattr__", "modules", "settrace", "setprofile", "register_assert_rewrite"),
    }
)
_EXPECTING = ("raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns")


def stronger_body(old: Sequence[ast.stmt], new: Sequence[ast.stmt], taken: Collection[str]) -> bool:
    """Return True if a body keeps every old statement in order and only adds harmless ones.

    Args:
        old: the base's statements, without those that do not count.
        new: the candidate's statements.
        taken: names that an added statement must not bind, because the old ones use them.
    """
    wanted = list(old)
    for each in new:
        if wanted and _same_or_stronger(wanted[0], each, taken):
            wanted.pop(0)
        elif not is_harmless(each, taken):
            return False
    return not wanted


def is_harmless(statement: ast.stmt, taken: Collection[str]) -> bool:
    """Return True if a statement only adds a check, or prepares one with new names."""
    if any(_reaches(node) or _binds(node, taken) for node in ast.walk(statement)):
        return False
    return _has_harmless_form(statement)


def is_expecting(statement: ast.With | ast.AsyncWith) -> bool:
    """Return True if a block expects an exception or a warning, so that an added statement may cause it."""
    return any(_called(item.context_expr).rpartition(".")[2] in _EXPECTING for item in statement.items)


def names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield every name that is read, bound or used as an argument below some nodes."""
    for node in chain.from_iterable(map(ast.walk, nodes)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _has_harmless_form(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assert() | ast.Pass() | ast.Assign() | ast.AnnAssign() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(ast.Call() as call):
            return _is_check(_called(call))
        case ast.With() | ast.AsyncWith():
            return is_expecting(statement) and all(map(_may_be_expected, statement.body))
        case ast.For() | ast.If():
            return all(map(_has_harmless_form, [*statement.body, *statement.orelse]))
        case _:
            return False


def _may_be_expected(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) or _has_harmless_form(statement)


def _is_check(name: str) -> bool:
    return name == "print" or name.rpartition(".")[2].startswith("assert")


def _reaches(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in REACHING or isinstance(node, ast.Global | ast.Nonlocal | ast.Delete)


def _binds(node: ast.AST, taken: Collection[str]) -> bool:
    """Return True if a node binds one of the names, or changes an object instead of a name."""
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Store) and node.id in taken
    if isinstance(node, ast.alias):
        return node.name == "*" or (node.asname or node.name.partition(".")[0]) in taken
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _same_or_stronger(old: ast.stmt, new: ast.stmt, taken: Collection[str]) -> bool:
    if ast.dump(old) == ast.dump(new):
        return True
    match old, new:
        case ast.Assert(), ast.Assert():
            return _asks_for_more(old.test, new.test)
        case (ast.With(), ast.With()) | (ast.AsyncWith(), ast.AsyncWith()):
            return _same_block(old, new, taken)
        case (ast.For(), ast.For()) | (ast.AsyncFor(), ast.AsyncFor()):
            head = _dumps([old.target, old.iter]) == _dumps([new.target, new.iter])
            return head and _both_stronger(old, new, taken)
        case ast.If(), ast.If():
            return ast.dump(old.test) == ast.dump(new.test) and _both_stronger(old, new, taken)
        case _:
            return False


def _both_stronger(
    old: ast.For | ast.AsyncFor | ast.If, new: ast.For | ast.AsyncFor | ast.If, taken: Collection[str]
) -> bool:
    return stronger_body(old.body, new.body, taken) and stronger_body(old.orelse, new.orelse, taken)


def _same_block(old: ast.With | ast.AsyncWith, new: ast.With | ast.AsyncWith, taken: Collection[str]) -> bool:
    if is_expecting(old):
        same = _dumps(old.body) == _dumps(new.body)
        return same and len(old.items) == len(new.items) and all(map(_expects_more, old.items, new.items))
    return _dumps(old.items) == _dumps(new.items) and stronger_body(old.body, new.body, taken)


def _expects_more(old: ast.withitem, new: ast.withitem) -> bool:
    """Return True for the same expectation, or one that also requires words of the exception."""
    if ast.dump(old) == ast.dump(new):
        return True
    one, other = old.context_expr, new.context_expr
    if not (isinstance(one, ast.Call) and isinstance(other, ast.Call)):
        return False
    if any(each.arg == "match" for each in one.keywords):
        return False
    rest = [each for each in other.keywords if each.arg != "match"]
    same_call = ast.dump(one.func) == ast.dump(other.func) and _dumps(one.args) == _dumps(other.args)
    return same_call and _dumps(one.keywords) == _dumps(rest) and _is_new_name(old, new)


def _is_new_name(old: ast.withitem, new: ast.withitem) -> bool:
    before, after = old.optional_vars, new.optional_vars
    return before is None or (after is not None and ast.dump(before) == ast.dump(after))


def _asks_for_more(old: ast.expr, new: ast.expr) -> bool:
    """Return True for `old and more`, whatever is added."""
    if not (isinstance(new, ast.BoolOp) and isinstance(new.op, ast.And)):
        return False
    before = old.values if isinstance(old, ast.BoolOp) and isinstance(old.op, ast.And) else [old]
    return set(_dumps(before)) <= set(_dumps(new.values))


def _called(node: ast.expr) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _dumps(nodes: Iterable[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes]

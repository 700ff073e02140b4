"""Describes what a function does as a text that is equal for equal meanings. Pure.

Comments, layout, docstrings, messages of assertions, names of local variables, annotations, the way in which
a text is formatted and older spellings (see `spellings`) do not count.
"""

import ast
import copy
from collections.abc import Iterable
from functools import reduce
from typing import TypeVar

from app.runners.evaluators.protection.additions import names_in
from app.runners.evaluators.protection.formatted_text import of_format, of_percent
from app.runners.evaluators.protection.spellings import Respelled, respelled_decorator

Function = ast.FunctionDef | ast.AsyncFunctionDef

_Node = TypeVar("_Node", bound=ast.AST)

_SILENCERS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
SILENT_CALLS = frozenset({"skip", "skipTest", "xfail", "importorskip"})
_CAST_ARGUMENTS = 2
_LOOK_AT_NAMES = frozenset({"locals", "eval", "exec", "vars", "globals"})


def normal_form(function: Function) -> str:
    """Return the normal form of a function without its name. It is equal for equal meanings."""
    decorators = [ast.dump(plain(respelled_decorator(each))) for each in function.decorator_list]
    body = [ast.dump(each) for each in renamed(function)]
    return "\n".join([signature(function), *decorators, "", *body])


def normal_body(function: Function) -> str:
    """Return the normal form of a function without its head. It is equal for equal meanings."""
    return "\n".join(map(ast.dump, renamed(function)))


def is_silencer(decorator: ast.expr) -> bool:
    """Return True if a decorator or mark skips a test, or expects it to fail."""
    return dotted_name(decorator).rpartition(".")[2] in _SILENCERS


def arguments_of(function: Function) -> set[str]:
    """Return the names in a function's arguments."""
    return set(names_in([function.args]))


def signature(function: Function) -> str:
    """Return the arguments with their defaults. Annotations of the function's own arguments do not count."""
    arguments = copy.deepcopy(function.args)
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    for each in every:
        if each is not None:
            each.annotation = None
    return ast.dump(arguments)


def plain_body(function: Function) -> list[ast.stmt]:
    """Return the statements, without the docstring and the parts that do not count."""
    body = function.body
    if _is_docstring(body[0]):
        body = body[1:]
    return [plain(each, is_in_function=True) for each in body]


def _is_docstring(statement: ast.stmt) -> bool:
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        return False
    # A doctest is a test.
    return isinstance(statement.value.value, str) and ">>>" not in statement.value.value


class _Unworded(ast.NodeTransformer):
    """Removes text for people: messages of assertions, reasons of skips, ids of rows.

    Formatted texts become f-strings.
    """

    def __init__(self, *, is_in_function: bool) -> None:
        self._is_in_function = is_in_function

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._visit_scope(node, is_function=True)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._visit_scope(node, is_function=True)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._visit_scope(node, is_function=False)

    def _visit_scope(self, node: ast.AST, *, is_function: bool) -> ast.AST:
        outer, self._is_in_function = self._is_in_function, is_function
        try:
            return self.generic_visit(node)
        finally:
            self._is_in_function = outer

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        # In functions, Python evaluates no annotation. One without a value only makes a name local.
        if node.value is None and self._is_in_function and isinstance(node.target, ast.Name):
            node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
        if node.value is None or not (isinstance(node.target, ast.Name) or _does_nothing(node.annotation)):
            return self.generic_visit(node)
        plain = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(plain, node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        last = dotted_name(node).rpartition(".")[2]
        silent = {"reason"} if last in _SILENCERS | SILENT_CALLS else set[str]()
        dropped = {"ids"} if last == "parametrize" else silent
        node.keywords = [each for each in node.keywords if each.arg not in dropped]
        if last == "cast" and len(node.args) == _CAST_ARGUMENTS:
            node.args[0] = _Unquoted().visit(node.args[0])
        self.generic_visit(node)
        return of_format(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return of_percent(node)


def _does_nothing(annotation: ast.expr) -> bool:
    """Return True if an annotation calls nothing, even if Python evaluates it."""
    calls = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
    return not any(isinstance(each, calls) for each in ast.walk(annotation))


class _Unions(ast.NodeTransformer):
    """Writes `Optional[X]` as `X | None`, and `Union[X, Y]` as `X | Y`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        kind = dotted_name(node.value).rpartition(".")[2]
        if kind == "Optional":
            return _either(node.slice, ast.Constant(None))
        if kind == "Union" and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            return reduce(_either, node.slice.elts)
        return node


def is_same_statement(one: ast.stmt, other: ast.stmt) -> bool:
    """Return True if two statements of a module or class are the same, but for the way types are written."""
    return ast.dump(_with_unions(one)) == ast.dump(_with_unions(other))


def _with_unions(statement: ast.stmt) -> ast.stmt:
    """Return the statement with the type of its name written in one way. Its value stays as it is."""
    if not isinstance(statement, ast.AnnAssign):
        return statement
    found = copy.deepcopy(statement)
    found.annotation = _Unions().visit(found.annotation)
    return found


def _either(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.copy_location(ast.BinOp(one, ast.BitOr(), other), one)


class _Unquoted(ast.NodeTransformer):
    """Writes types without quotation marks: `cast("list[X]", y)` becomes `cast(list[X], y)`."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str):
            return node
        try:
            return self.visit(ast.parse(node.value.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node


def forget_letters(module: ast.Module) -> ast.Module:
    """Remove the letter in `u"text"`, which means nothing. Return the module."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant):
            node.kind = None
    return module


def plain(node: _Node, *, is_in_function: bool = False) -> _Node:
    """Return a copy without the parts that do not count, in one spelling."""
    # A statement can be replaced by one of another kind.
    return Respelled().visit(_Unworded(is_in_function=is_in_function).visit(copy.deepcopy(node)))


class _Rename(ast.NodeTransformer):
    """Names local variables by the order in which they are bound."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name: f"local {number}" for number, name in enumerate(dict.fromkeys(names))}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node


def renamed(function: Function) -> list[ast.stmt]:
    """Return the plain body with neutral names of local variables, if it is certain which are local."""
    body = plain_body(function)
    nodes = [node for each in body for node in ast.walk(each)]
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal)
    looks = any(isinstance(node, ast.Name) and node.id in _LOOK_AT_NAMES for node in nodes)
    if looks or any(isinstance(node, scopes) for node in nodes):
        return body
    taken = arguments_of(function)
    bound = [
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in taken
    ]
    rename = _Rename(bound)
    for each in body:
        rename.visit(each)
    return body


def dotted_name(node: ast.expr) -> str:
    """Return the dotted name of an expression, called or not."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)

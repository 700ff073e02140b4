"""Finds new code that satisfies a test or a checker without the work behind it."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_OF_MACHINE = re.compile(r"\b(?:sys|platform|os)\.")
_GUARDS = ("TypeGuard[", "TypeIs[")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Hollow:
    """A place in new code.

    Attributes:
        line: its line.
        does: what it does, as the end of a sentence that begins with the file.
        why: why tests or a checker say nothing about it.
    """

    line: int
    does: str
    why: str


def hollow_code(base: ast.Module | None, module: ast.Module) -> list[Hollow]:
    """Return the places in new code that satisfy tests or a checker without work; none that the base has.

    Args:
        base: the module at the base; None for a new one.
        module: the new code.
    """
    known = {each.does for each in _found(base)} if base else set[str]()
    found = [each for each in _found(module) if each.does not in known]
    return [*found, *(_unfinished(base, module) if base else ())]


def _found(module: ast.Module) -> Iterator[Hollow]:
    for node in ast.walk(module):
        match node:
            case ast.ClassDef():
                yield from _changed_by_equality(node)
            case ast.FunctionDef():
                yield from _unread_guard(node)
            case ast.Try(body=body, handlers=handlers):
                yield from _asserted(body, handlers)
            case _:
                continue


def _changed_by_equality(node: ast.ClassDef) -> Iterator[Hollow]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__eq__" and _sets_attributes(each):
            why = "Tests that compare such a value believe what it says itself."
            yield Hollow(each.lineno, f"changes a `{node.name}` while it is compared", why)


def _sets_attributes(function: ast.FunctionDef) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
        or (isinstance(each, ast.Call) and ast.unparse(each.func).endswith(("setattr", "__setattr__")))
        for each in ast.walk(function)
    )


def _unread_guard(node: ast.FunctionDef) -> Iterator[Hollow]:
    """Yield a function that says of which type its argument is without having read it."""
    if node.returns is None or not any(each in ast.unparse(node.returns) for each in _GUARDS):
        return
    named = [each.arg for each in node.args.args if each.arg not in ("self", "cls")][:1]
    if named and named[0] not in _names_in(node.body):
        does = f"tells a type in `{node.name}` without a look at the argument"
        yield Hollow(node.lineno, does, "The type checker believes it.")


def _asserted(body: Sequence[ast.stmt], handlers: Sequence[ast.ExceptHandler]) -> Iterator[Hollow]:
    """Yield an assertion whose failure is handled, so that the code depends on it."""
    caught = {ast.unparse(each.type) for each in handlers if each.type is not None}
    for each in body:
        if isinstance(each, ast.Assert) and "AssertionError" in caught:
            yield Hollow(each.lineno, "depends on an assertion", "Python leaves assertions out with `-O`.")


def _unfinished(base: ast.Module, module: ast.Module) -> Iterator[Hollow]:
    """Yield the functions that the base does not implement, and that now only look as if they were."""
    open_at_base = {name for name, node in _functions(base) if _is_open(_work_of(node))}
    for name, node in _functions(module):
        work = _work_of(node)
        if name not in open_at_base or _is_open(work):
            continue
        left = next(_left_open(work), None)
        given = {each.arg for each in node.args.args if each.arg not in ("self", "cls")}
        match work:
            case [ast.Return(value=ast.Name(id=value))] if value in given:
                why = "The base does not implement it. Tests that work and undo the work pass without it."
                yield Hollow(node.lineno, f"only gives back the argument of `{name}`", why)
            case _ if left is not None:
                why = "The base does not implement it. Tests say nothing about cases that none of them has."
                yield Hollow(left, f"implements only a part of `{name}`", why)
            case _:
                continue


def _left_open(statements: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines that refuse a case. What a platform or an interpreter lacks is no such case."""
    for each in statements:
        if isinstance(each, ast.Raise) and _is_open([each]):
            yield each.lineno
        elif not (isinstance(each, ast.If) and _OF_MACHINE.search(ast.unparse(each.test))):
            yield from _left_open(ast.iter_child_nodes(each))


def _functions(module: ast.Module) -> Iterator[tuple[str, _Function]]:
    for node in module.body:
        if isinstance(node, _Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, _Function)
            )


def _work_of(node: _Function) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def _is_open(work: Sequence[ast.stmt]) -> bool:
    match work:
        case [ast.Raise(exc=ast.expr() as error)]:
            return "NotImplementedError" in ast.unparse(error)
        case _:
            return False


def _names_in(body: Sequence[ast.stmt]) -> set[str]:
    return {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}

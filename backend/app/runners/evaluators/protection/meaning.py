"""What a new version of one test, fixture or helper means against the old one. Pure.

Comments, layout, docstrings, messages of assertions, names of local variables and annotations do not count.
Assertions, rows and checks that are added make it *stronger*. What asks for less makes it *weaker*. The rest
is *different*.
"""

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from app.runners.evaluators.protection.additions import names_in, stronger_body

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_Node = TypeVar("_Node", bound=ast.AST)

_SILENCERS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_SILENT_CALLS = frozenset({"skip", "skipTest", "xfail", "importorskip"})
_LOOK_AT_NAMES = frozenset({"locals", "eval", "exec", "vars", "globals"})


class Change(IntEnum):
    """How a new version compares with the old one; the larger, the worse."""

    SAME = 0
    STRONGER = 1
    WEAKER = 2
    DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class Meaning:
    """How the meaning changed, and in what way, as the rest of a sentence about the test."""

    change: Change
    why: str = ""

    @property
    def is_harmless(self) -> bool:
        """True when nothing that was asked for is lost."""
        return self.change <= Change.STRONGER


SAME = Meaning(Change.SAME)
_STRONGER = Meaning(Change.STRONGER, "asks for more")


def compare_functions(old: Function, new: Function) -> Meaning:
    """Compare two versions of a function."""
    if type(old) is not type(new) or _signature(old) != _signature(new):
        return Meaning(Change.DIFFERENT, "takes other arguments")
    return _worst((compare_decorators(old.decorator_list, new.decorator_list), _compare_bodies(old, new)))


def compare_decorators(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> Meaning:
    """Compare the decorators of two versions: skips, rows and the rest."""
    marks = _compare_silencers(_only(old, is_silencer), _only(new, is_silencer))
    before, after = _only(old, _is_plain), _only(new, _is_plain)
    if len(before) != len(after):
        return Meaning(Change.DIFFERENT, "has other decorators")
    return _worst((marks, *map(_compare_decorator, before, after)))


def normal_form(function: Function) -> str:
    """Return what a function does, without its name, as a text that is equal for equal meanings."""
    decorators = [ast.dump(_plain(each)) for each in function.decorator_list]
    body = [ast.dump(each) for each in _renamed(function)]
    return "\n".join([_signature(function), *decorators, "", *body])


def normal_body(function: Function) -> str:
    """Return what a function does, without its head, as a text that is equal for equal meanings."""
    return "\n".join(map(ast.dump, _renamed(function)))


def is_silencer(decorator: ast.expr) -> bool:
    """Tell whether a decorator or mark skips a test, or expects it to fail."""
    return _name(decorator).rpartition(".")[2] in _SILENCERS


def first_difference(old: ast.AST, new: ast.AST) -> tuple[str, str] | None:
    """Return the source of the expressions that differ, when it is one short pair; else None."""
    pairs = _differing(old, new)
    texts = {(ast.unparse(one), ast.unparse(other)) for one, other in pairs}
    if len(texts) != 1:
        return None
    before, after = texts.pop()
    is_short = max(len(before), len(after)) <= 80 and "\n" not in before + after
    return (before, after) if is_short and all(map(_is_expression, *zip(*pairs, strict=True))) else None


def _is_expression(*nodes: ast.AST) -> bool:
    return all(isinstance(each, ast.expr) for each in nodes)


def _worst(found: Iterable[Meaning]) -> Meaning:
    return max(found, key=lambda each: each.change, default=SAME)


def _only(decorators: Sequence[ast.expr], wanted: Callable[[ast.expr], bool]) -> list[ast.expr]:
    return [each for each in decorators if wanted(each)]


def _is_plain(decorator: ast.expr) -> bool:
    return not is_silencer(decorator)


def _compare_silencers(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> Meaning:
    before, after = [sorted(ast.dump(_plain(each)) for each in group) for group in (old, new)]
    if before == after:
        return SAME
    if set(after) < set(before):
        return Meaning(Change.STRONGER, "is no longer skipped")
    if len(after) > len(before):
        return Meaning(Change.WEAKER, "is now skipped or expected to fail")
    return Meaning(Change.DIFFERENT, "is skipped or expected to fail on another condition")


def _compare_decorator(old: ast.expr, new: ast.expr) -> Meaning:
    one, other = _plain(old), _plain(new)
    if ast.dump(one) == ast.dump(other):
        return SAME
    before, after = rows_of(one), rows_of(other)
    if before is None or after is None or before.about != after.about:
        return Meaning(Change.DIFFERENT, "has other decorators")
    some, others = ([*map(ast.dump, each.rows)] for each in (before, after))
    if _is_part(some, others):
        return _STRONGER
    if _is_part(others, some):
        return Meaning(Change.WEAKER, "has fewer rows")
    return Meaning(Change.DIFFERENT, "has other rows")


@dataclass(frozen=True, slots=True)
class Rows:
    """A parametrisation: what it is about, as a text that is equal for equal meanings, and its rows."""

    about: str
    rows: Sequence[ast.expr]


def rows_of(decorator: ast.expr) -> Rows | None:
    """Return a parametrisation's rows; None for any other decorator."""
    if not (isinstance(decorator, ast.Call) and _name(decorator).endswith("parametrize")):
        return None
    if len(decorator.args) != 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
        return None
    rest = [ast.dump(each) for each in (decorator.func, decorator.args[0], *decorator.keywords)]
    return Rows("\n".join(rest), decorator.args[1].elts)


def _is_part(some: Sequence[str], every: Sequence[str]) -> bool:
    """Tell whether all of `some` are in `every`, in this order."""
    left = iter(every)
    return all(each in left for each in some)


def _compare_bodies(old: Function, new: Function) -> Meaning:
    if list(map(ast.dump, _renamed(old))) == list(map(ast.dump, _renamed(new))):
        return SAME
    before, after = _body(old), _body(new)
    if stronger_body(before, after, {*names_in(before), *_arguments(old)}):
        return _STRONGER
    if _silent_calls(after) > _silent_calls(before):
        return Meaning(Change.WEAKER, "can now skip itself or expect to fail")
    if _checks(after) < _checks(before):
        return Meaning(Change.WEAKER, "has fewer assertions")
    if stronger_body(after, before, {*names_in(after), *_arguments(new)}):
        return Meaning(Change.WEAKER, "asks for less")
    return Meaning(Change.DIFFERENT, "asks for something else")


def _silent_calls(body: Sequence[ast.stmt]) -> int:
    calls = (node for each in body for node in ast.walk(each) if isinstance(node, ast.Call))
    return sum(_name(each).rpartition(".")[2] in _SILENT_CALLS for each in calls)


def _checks(body: Sequence[ast.stmt]) -> int:
    nodes = [node for each in body for node in ast.walk(each)]
    asserts = sum(isinstance(node, ast.Assert) for node in nodes)
    calls = [_name(node).rpartition(".")[2] for node in nodes if isinstance(node, ast.Call)]
    return asserts + sum(each.startswith("assert") or each in ("raises", "warns") for each in calls)


def _arguments(function: Function) -> set[str]:
    return set(names_in([function.args]))


def _signature(function: Function) -> str:
    """Return the arguments with their defaults; annotations of the function's own arguments do not count."""
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


def _body(function: Function) -> list[ast.stmt]:
    """Return the statements without the docstring and what does not count in them."""
    body = function.body
    if _is_docstring(body[0]):
        body = body[1:]
    return [_plain(each) for each in body]


def _is_docstring(statement: ast.stmt) -> bool:
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        return False
    # A doctest is a test.
    return isinstance(statement.value.value, str) and ">>>" not in statement.value.value


class _Unworded(ast.NodeTransformer):
    """Takes out words for people: messages of assertions, reasons of skips, ids of rows."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        # Python does not evaluate the annotation of a local variable.
        if node.value is None or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        plain = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(plain, node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        last = _name(node).rpartition(".")[2]
        silent = {"reason"} if last in _SILENCERS | _SILENT_CALLS else set[str]()
        dropped = {"ids"} if last == "parametrize" else silent
        node.keywords = [each for each in node.keywords if each.arg not in dropped]
        return self.generic_visit(node)


def _plain(node: _Node) -> _Node:
    _Unworded().visit(made := copy.deepcopy(node))
    return made


class _Rename(ast.NodeTransformer):
    """Gives local variables names by the order in which they are bound."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name: f"local {number}" for number, name in enumerate(dict.fromkeys(names))}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node


def _renamed(function: Function) -> list[ast.stmt]:
    """Return the statements with neutral names of local variables, where it is certain what is local."""
    body = _body(function)
    nodes = [node for each in body for node in ast.walk(each)]
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal)
    looks = any(isinstance(node, ast.Name) and node.id in _LOOK_AT_NAMES for node in nodes)
    if looks or any(isinstance(node, scopes) for node in nodes):
        return body
    taken = _arguments(function)
    bound = [
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in taken
    ]
    rename = _Rename(bound)
    for each in body:
        rename.visit(each)
    return body


def _name(node: ast.expr) -> str:
    """Return a dotted name, called or not."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _differing(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return the smallest parts that differ."""
    if ast.dump(old) == ast.dump(new):
        return []
    if type(old) is not type(new):
        return [(old, new)]
    found: list[tuple[ast.AST, ast.AST]] = []
    for field in old._fields:
        pairs = _paired(getattr(old, field, None), getattr(new, field, None))
        if pairs is None:
            return [(old, new)]
        found += [pair for one, other in pairs for pair in _differing(one, other)]
    is_operator = any(not isinstance(one, ast.expr | ast.stmt | ast.keyword) for one, _ in found)
    return [(old, new)] if is_operator and isinstance(old, ast.expr) else found


def _paired(old: object, new: object) -> list[tuple[ast.AST, ast.AST]] | None:
    """Return the nodes of one field in pairs; None when they cannot be paired, or plain values differ."""
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return [(old, new)]
    if not (isinstance(old, list) and isinstance(new, list)):
        return [] if old == new else None
    if len(old) != len(new):  # pyright: ignore[reportUnknownArgumentType]
        return None
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for one, other in zip(old, new, strict=True):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(one, ast.AST) and isinstance(other, ast.AST):
            pairs.append((one, other))
        elif one != other:
            return None
    return pairs

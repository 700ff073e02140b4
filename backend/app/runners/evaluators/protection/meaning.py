"""Compares the meaning of two versions of one test, fixture or helper. Pure.

Comments, layout, docstrings, messages of assertions, names of local variables and annotations do not count.
Added assertions, rows and checks make it *stronger*. Requiring less makes it *weaker*. Any other change is
*different*.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from app.runners.evaluators.protection.additions import names_in, stronger_body
from app.runners.evaluators.protection.normal_form import (
    SILENT_CALLS,
    Function,
    arguments_of,
    dotted_name,
    is_silencer,
    plain,
    plain_body,
    renamed,
    signature,
)
from app.runners.evaluators.protection.spellings import respelled_decorator

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class MeaningChange(IntEnum):
    """How a new version compares with the old one. A larger value is worse."""

    SAME = 0
    STRONGER = 1
    WEAKER = 2
    DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class Meaning:
    """How the meaning changed, and in what way, as the rest of a sentence about the test."""

    change: MeaningChange
    why: str = ""

    @property
    def is_harmless(self) -> bool:
        """True if no requirement is lost."""
        return self.change <= MeaningChange.STRONGER


SAME = Meaning(MeaningChange.SAME)
_STRONGER = Meaning(MeaningChange.STRONGER, "asks for more")


def compare_functions(old: Function, new: Function) -> Meaning:
    """Compare two versions of a function."""
    if type(old) is not type(new) or signature(old) != signature(new):
        return Meaning(MeaningChange.DIFFERENT, "takes different arguments")
    return _worst((compare_decorators(old.decorator_list, new.decorator_list), _compare_bodies(old, new)))


def compare_decorators(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> Meaning:
    """Compare the decorators of two versions: skips, rows and the rest."""
    marks = _compare_silencers(_only(old, is_silencer), _only(new, is_silencer))
    before, after = _only(old, _is_plain), _only(new, _is_plain)
    if len(before) != len(after):
        return Meaning(MeaningChange.DIFFERENT, "has different decorators")
    return _worst((marks, *map(_compare_decorator, before, after)))


def _worst(found: Iterable[Meaning]) -> Meaning:
    return max(found, key=lambda each: each.change, default=SAME)


def _only(decorators: Sequence[ast.expr], wanted: Callable[[ast.expr], bool]) -> list[ast.expr]:
    return [each for each in decorators if wanted(each)]


def _is_plain(decorator: ast.expr) -> bool:
    return not is_silencer(decorator)


def _compare_silencers(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> Meaning:
    before, after = [sorted(ast.dump(plain(each)) for each in group) for group in (old, new)]
    if before == after:
        return SAME
    if set(after) < set(before):
        return Meaning(MeaningChange.STRONGER, "is no longer skipped")
    if len(after) > len(before):
        return Meaning(MeaningChange.WEAKER, "is now skipped or expected to fail")
    return Meaning(MeaningChange.DIFFERENT, "is skipped or expected to fail under a different condition")


def _compare_decorator(old: ast.expr, new: ast.expr) -> Meaning:
    one, other = (plain(respelled_decorator(each)) for each in (old, new))
    if ast.dump(one) == ast.dump(other):
        return SAME
    before, after = rows_of(one), rows_of(other)
    if before is None or after is None or before.about != after.about:
        return Meaning(MeaningChange.DIFFERENT, "has different decorators")
    some, others = ([*map(ast.dump, each.rows)] for each in (before, after))
    if _is_part(some, others):
        return _STRONGER
    if _is_part(others, some):
        return Meaning(MeaningChange.WEAKER, "has fewer rows")
    return Meaning(MeaningChange.DIFFERENT, "has other rows")


@dataclass(frozen=True, slots=True)
class Rows:
    """A parametrisation: its subject as a text that is equal for equal meanings, and its rows."""

    about: str
    rows: Sequence[ast.expr]


def rows_of(decorator: ast.expr) -> Rows | None:
    """Return a parametrisation's rows, or None for any other decorator."""
    if not (isinstance(decorator, ast.Call) and dotted_name(decorator).endswith("parametrize")):
        return None
    if len(decorator.args) != 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
        return None
    rest = [ast.dump(each) for each in (decorator.func, decorator.args[0], *decorator.keywords)]
    return Rows("\n".join(rest), decorator.args[1].elts)


def _is_part(some: Sequence[str], every: Sequence[str]) -> bool:
    """Return True if all of `some` are in `every`, in this order."""
    left = iter(every)
    return all(each in left for each in some)


def _compare_bodies(old: Function, new: Function) -> Meaning:
    if list(map(ast.dump, renamed(old))) == list(map(ast.dump, renamed(new))):
        return SAME
    before, after = plain_body(old), plain_body(new)
    if stronger_body(before, after, {*names_in(before), *arguments_of(old)}):
        return _STRONGER
    if _silent_calls(after) > _silent_calls(before):
        return Meaning(MeaningChange.WEAKER, "can now skip itself or expect to fail")
    if _checks(after) < _checks(before):
        return Meaning(MeaningChange.WEAKER, "has fewer assertions")
    if stronger_body(after, before, {*names_in(after), *arguments_of(new)}):
        return Meaning(MeaningChange.WEAKER, "asks for less")
    return Meaning(MeaningChange.DIFFERENT, "checks something else")


def _silent_calls(body: Sequence[ast.stmt]) -> int:
    calls = (node for each in body for node in ast.walk(each) if isinstance(node, ast.Call))
    return sum(dotted_name(each).rpartition(".")[2] in SILENT_CALLS for each in calls)


def _checks(body: Sequence[ast.stmt]) -> int:
    nodes = [node for each in body for node in ast.walk(each)]
    asserts = sum(isinstance(node, ast.Assert) for node in nodes)
    calls = [dotted_name(node).rpartition(".")[2] for node in nodes if isinstance(node, ast.Call)]
    return asserts + sum(each.startswith("assert") or each in ("raises", "warns") for each in calls)

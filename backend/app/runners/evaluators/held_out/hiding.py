"""Hides a part of the cases of a test file, so that an agent sees some of them and is judged by all."""

import ast
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.runners.evaluators.held_out.cases import case_groups, name_of, names_in, test_functions
from app.runners.evaluators.held_out.cutting import Cut, without

Wanted = Callable[[str], bool]
"""Tells of a test's name whether its cases may be hidden."""


@dataclass(frozen=True, slots=True)
class PartlyHidden:
    """A test file without its hidden cases.

    Attributes:
        text: what the agent sees.
        hidden: number of hidden cases.
        total: number of cases in the whole file.
    """

    text: str
    hidden: int
    total: int


def hide_cases(
    source: str, share: float, chance: random.Random, wanted: Wanted = lambda name: True
) -> PartlyHidden | None:
    """Hide a share of a test file's cases. Return None if no case can be hidden.

    A case is a row of a parametrisation, a row of a loop's table, a check at the end of a test, or a test. At
    least one case of each test stays visible. A whole test is hidden only if the visible tests use every name
    that it uses, so that an agent can know what is asked for.

    Args:
        source: the text of the file.
        share: the share of cases to hide, between 0 and 1.
        chance: chooses the cases.
        wanted: tells of a test, such as `TestParse::test_hours`, whether its cases may be hidden.

    Raises:
        SyntaxError: the text is not Python.
    """
    module = ast.parse(source)
    groups = [each for each in case_groups(module) if all(map(wanted, each.tests))]
    total = sum(each.cases for each in groups)
    cuts = [found for each in groups if (found := each.hide(share, chance)) is not None]
    text, hidden = _hide(source, cuts)
    text, more = _hide_tests(text, round(share * total) - hidden, chance, wanted)
    return PartlyHidden(text, hidden + more, total) if hidden + more else None


def _hide(source: str, cuts: Sequence[tuple[Cut, int]]) -> tuple[str, int]:
    """Make as many of the cuts as the text allows. Return it and the number of hidden cases."""
    shorter = without(source, [cut for cut, _ in cuts])
    if shorter is not None:
        return shorter, sum(cases for _, cases in cuts)
    text, hidden = source, 0
    # A cut moves what comes after it, so the last one is made first.
    for cut, cases in sorted(cuts, key=lambda each: each[0].line, reverse=True):
        shorter = without(text, [cut])
        if shorter is not None:
            text, hidden = shorter, hidden + cases
    return text, hidden


def _hide_tests(text: str, most: int, chance: random.Random, wanted: Wanted) -> tuple[str, int]:
    """Hide whole tests until `most` cases are hidden, or no further test may be. Return text and count."""
    hidden = 0
    while hidden < most:
        found = [each for each in _spare_tests(ast.parse(text), wanted) if each[1] <= most - hidden]
        chance.shuffle(found)
        for cut, cases in found:
            shorter = without(text, [cut])
            if shorter is not None:
                text, hidden = shorter, hidden + cases
                break
        else:
            break
    return text, hidden


def _spare_tests(module: ast.Module, wanted: Wanted) -> Iterator[tuple[Cut, int]]:
    """Yield a cut for each test whose names all occur in other tests, with its number of cases."""
    functions = list(test_functions(module))
    cases = Counter[str]()
    for group in case_groups(module):
        for name in group.tests:
            cases[name] += group.cases
    uses = [names_in(function) for _, function in functions]
    known = Counter(name for each in uses for name in each)
    in_class = Counter(id(parent) for parent, _ in functions)
    for (parent, function), names in zip(functions, uses, strict=True):
        is_only_one = len(functions) < 2 or (isinstance(parent, ast.ClassDef) and in_class[id(parent)] < 2)
        if not is_only_one and wanted(name_of(parent, function)) and all(known[each] > 1 for each in names):
            yield (
                Cut.of(parent, "body", (parent.body.index(function),)),
                cases[name_of(parent, function)] or 1,
            )

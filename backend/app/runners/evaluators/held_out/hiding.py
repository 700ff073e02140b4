"""Hides a part of the cases of a test file, so that an agent sees some of them and is judged by all."""

import ast
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.runners.evaluators.held_out.cases import (
    Parent,
    TestFunction,
    case_groups,
    name_of,
    names_in,
    test_functions,
)
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

    A case is a row of a parametrisation, a row of a loop's table, a check at the end of a test, or a test. A
    whole test is hidden only if the visible tests use every name that it uses, so that an agent can know what
    is asked for. Of all others at least one case stays visible.

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
    """Hide whole tests, at most `most` cases. Return text and count.

    Only tests are hidden whose names all occur in tests that stay, and at least one stays in each class.
    """
    if most < 1:
        return text, 0
    module = ast.parse(text)
    functions = [_Test(*each, names_in(each[1])) for each in test_functions(module)]
    known = Counter(name for each in functions for name in each.uses)
    beside = Counter(id(each.parent) for each in functions)
    cases = Counter[str]()
    for group in case_groups(module):
        cases.update(dict.fromkeys(group.tests, group.cases))
    cuts: list[tuple[Cut, int]] = []
    chance.shuffle(functions)
    for each in functions:
        count = cases[each.name] or 1
        is_spare = beside[id(each.parent)] > 1 and all(known[name] > 1 for name in each.uses)
        if is_spare and count <= most and wanted(each.name):
            cuts.append((each.cut, count))
            most -= count
            known.subtract(each.uses)
            beside[id(each.parent)] -= 1
    return _hide(text, cuts)


@dataclass(frozen=True, slots=True)
class _Test:
    """A test, the module or class around it, and the names that it takes from elsewhere."""

    parent: Parent
    function: TestFunction
    uses: frozenset[str]

    @property
    def name(self) -> str:
        return name_of(self.parent, self.function)

    @property
    def cut(self) -> Cut:
        return Cut.of(self.parent, "body", [self.parent.body.index(self.function)])

"""Compares two runs that complement each other: what is wrong in one of them is true in the other."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.runners.evaluators.testing.counter_tests.drawing import Change
from app.runners.evaluators.testing.inventory import function_of
from app.runners.evaluators.testing.report import RanTest, RunReport


class Answer(StrEnum):
    """What a test did with a wrong expectation.

    `NOTICED`: it failed, and passed with the true one. `UNNOTICED`: it passed with either. `DISTURBED`: it
    failed with the true one, too. `SILENT`: it did not come to its end, or not in time, in one of the runs.
    """

    NOTICED = "noticed"
    UNNOTICED = "unnoticed"
    DISTURBED = "disturbed"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Half:
    """One of the two runs.

    Attributes:
        changes: what was changed for it.
        report: what came of it.
    """

    changes: Sequence[Change]
    report: RunReport


@dataclass(frozen=True, slots=True)
class Answered:
    """What one test did with one wrong expectation."""

    test: str
    change: Change
    answer: Answer


def compare(halves: tuple[Half, Half]) -> list[Answered]:
    """Say of every changed test what it did."""
    one, other = halves
    return [*_answers(one, other), *_answers(other, one)]


def _answers(wrong: Half, true: Half) -> Iterator[Answered]:
    there, here = _by_function(true.report), _by_function(wrong.report)
    for change in wrong.changes:
        for test in change.tests:
            changed = _counterpart(test, change, here, wrong.report)
            control = _counterpart(test, change, there, true.report)
            yield Answered(test, change, _answer(changed, control))


def _answer(changed: RanTest | None, control: RanTest | None) -> Answer:
    if control is None or changed is None or not (changed.ok or changed.bad):
        return Answer.SILENT
    if changed.was_cut or control.was_cut:
        return Answer.SILENT
    if not control.ok:
        return Answer.DISTURBED
    return Answer.NOTICED if changed.bad else Answer.UNNOTICED


def _by_function(report: RunReport) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for each in report.ids:
        found[function_of(each)].append(each)
    return found


def _counterpart(
    test: str, change: Change, ids: Mapping[str, Sequence[str]], report: RunReport
) -> RanTest | None:
    """Find a test by its place among those of its function: its parameters may have changed, and its id."""
    before = [each for each in change.unit.tests if function_of(each) == function_of(test)]
    after = ids.get(function_of(test), ())
    return report.tests.get(after[before.index(test)]) if len(before) == len(after) else None


def answers_by_test(answered: Iterable[Answered]) -> dict[str, Answered]:
    """Return answers by test; a test has one in each pair of runs."""
    return {each.test: each for each in answered}

"""Compares two complementary runs: an expectation that is wrong in one of them is true in the other."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.runners.evaluators.testing.counter_tests.drawing import WrongExpectation
from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.running.report import RanTest, RunReport


class CounterTestOutcome(StrEnum):
    """The result of a test with a wrong expectation.

    `NOTICED`: it failed, and passed with the true one. `UNNOTICED`: it passed with either. `DISTURBED`: it
    failed with the true one, too. `SILENT`: it did not run to its end, or not in time, in one of the runs.
    """

    NOTICED = "noticed"
    UNNOTICED = "unnoticed"
    DISTURBED = "disturbed"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Half:
    """One of the two runs.

    Attributes:
        changes: the changes that were made for it.
        report: its report.
    """

    changes: Sequence[WrongExpectation]
    report: RunReport


@dataclass(frozen=True, slots=True)
class CounterTestResult:
    """The result of one test with one wrong expectation."""

    test: str
    change: WrongExpectation
    answer: CounterTestOutcome


def compare(halves: tuple[Half, Half]) -> list[CounterTestResult]:
    """Return the result of every changed test."""
    one, other = halves
    return [*_answers(one, other), *_answers(other, one)]


def _answers(wrong: Half, true: Half) -> Iterator[CounterTestResult]:
    there, here = _by_function(true.report.as_collected), _by_function(wrong.report.as_collected)
    places: dict[int, dict[str, _Place]] = {}
    for change in wrong.changes:
        unit = change.unit
        # Cached, because a function may have tens of thousands of tests, and a change for each of them.
        places[id(unit)] = known = places.get(id(unit)) or _places(unit.tests)
        for test in change.tests:
            changed = _counterpart(known[test], change, here, wrong.report)
            control = _counterpart(known[test], change, there, true.report)
            yield CounterTestResult(test, change, _answer(changed, control))


def _answer(changed: RanTest | None, control: RanTest | None) -> CounterTestOutcome:
    if control is None or changed is None or not (changed.ok or changed.bad):
        return CounterTestOutcome.SILENT
    if changed.was_cut or control.was_cut:
        return CounterTestOutcome.SILENT
    if not control.ok:
        return CounterTestOutcome.DISTURBED
    return CounterTestOutcome.NOTICED if changed.bad else CounterTestOutcome.UNNOTICED


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a test among those of its function. A change of its parameters may change its id."""

    test: str
    function: str
    index: int
    count: int

    def counterpart(self, ids: Mapping[str, Sequence[str]]) -> str:
        """Return the id at that position in another run; empty if that has more tests or fewer."""
        after = ids.get(self.function, ())
        return after[self.index] if len(after) == self.count else ""


def _counterpart(
    place: _Place, change: WrongExpectation, ids: Mapping[str, Sequence[str]], report: RunReport
) -> RanTest | None:
    """Find a test by its id, or by its position in its function if its parameters have changed.

    The position alone is not enough: parameters from a set or a directory have another order in each run.
    """
    found = place.counterpart(ids)
    has_its_id = change.site.row is None and place.test in report.tests
    return report.tests.get(place.test if found and has_its_id else found)


def _places(tests: Sequence[str]) -> dict[str, _Place]:
    return {
        test: _Place(test, function, index, len(ids))
        for function, ids in _by_function(tests).items()
        for index, test in enumerate(ids)
    }


def _by_function(ids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for each in ids:
        found[function_of(each)].append(each)
    return found


def answers_by_test(answered: Iterable[CounterTestResult]) -> dict[str, CounterTestResult]:
    """Return answers by test. A test has one in each pair of runs."""
    return {each.test: each for each in answered}

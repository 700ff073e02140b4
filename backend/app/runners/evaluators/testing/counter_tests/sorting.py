"""Decides which tests are proven and which refuted, from their results with wrong expectations."""

from collections.abc import Iterable, Mapping, Sequence

from app.runners.evaluators.testing.counter_tests.comparing import CounterTestOutcome, CounterTestResult
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport

_REASONS = {
    CounterTestOutcome.UNNOTICED: "it passes with a wrong expectation, which honest code may do there",
    CounterTestOutcome.DISTURBED: "it also fails with its right expectation next to tests with wrong ones",
    CounterTestOutcome.SILENT: "it does not finish when expectations are changed",
}
_TOUCHY = "it fails as soon as a comment is added to its file"

Answers = Mapping[str, CounterTestResult]
"""Results of tests in one pair of runs, by id."""


def suspects(pairs: Iterable[Answers]) -> dict[str, CounterTestResult]:
    """Return the tests that did not notice a wrong expectation, each with the first such result."""
    found: dict[str, CounterTestResult] = {}
    for answers in pairs:
        for test, each in answers.items():
            if each.answer is CounterTestOutcome.UNNOTICED:
                found.setdefault(test, each)
    return found


def noticed(pairs: Iterable[Answers]) -> set[str]:
    """Return the tests that noticed a wrong expectation."""
    return {
        test
        for answers in pairs
        for test, each in answers.items()
        if each.answer is CounterTestOutcome.NOTICED
    }


def worth_asking(suspected: Answers, honest: Sequence[Answers]) -> dict[str, CounterTestResult]:
    """Return the suspects that the base's own code does not clear. `honest` is as for `refuted`."""
    return {
        test: each
        for test, each in suspected.items()
        if _holds(each, [answers[test] for answers in honest if test in answers])
    }


def unnoticed_twice(suspected: Answers, again: Answers) -> dict[str, CounterTestResult]:
    """Return the suspects that also did not notice another wrong expectation in the same place."""
    return {
        test: each
        for test, each in again.items()
        if each.answer is CounterTestOutcome.UNNOTICED
        and test in suspected
        and each.change.site == suspected[test].change.site
    }


def refuted(twice: Iterable[CounterTestResult], honest: Sequence[Answers]) -> dict[str, str]:
    """Return the tests whose silence is evidence against the candidate.

    Args:
        twice: tests that did not notice two wrong expectations in the same place.
        honest: results of the base's own code with the same files, for each pair of runs.
    """
    return {
        each.test: f"line {each.change.site.line} (`{each.change.site.shown}`) passes with "
        f"`{each.change.says}`, too"
        for each in twice
        if _holds(each, [answers[each.test] for answers in honest if each.test in answers])
    }


def _holds(suspect: CounterTestResult, honest: Iterable[CounterTestResult]) -> bool:
    same = [each.answer for each in honest if each.change.site == suspect.change.site]
    if CounterTestOutcome.UNNOTICED in same:
        return False
    return suspect.change.site.certain or (
        bool(same) and all(each is CounterTestOutcome.NOTICED for each in same)
    )


def speechless(pairs: Iterable[Answers]) -> set[str]:
    """Return the tests that neither failed with a wrong expectation nor passed with one, in any pair."""
    told: set[str] = set()
    found: set[str] = set()
    for answers in pairs:
        for test, each in answers.items():
            (found if each.answer in (CounterTestOutcome.DISTURBED, CounterTestOutcome.SILENT) else told).add(
                test
            )
    return found - told


def failing_in_all(tests: Iterable[str], touched: Sequence[RunReport]) -> list[str]:
    """Return the tests that fail in each of some runs with an added comment in their files.

    A run or a test that reached its time limit is no evidence.
    """
    if any(run.ending is PytestEnding.TIMED_OUT for run in touched):
        return []
    return [each for each in tests if not any(_may_be_ok(each, run) for run in touched)]


def touchy(failing: Iterable[str], plain: RunReport, base: Sequence[RunReport]) -> dict[str, str]:
    """Return the tests that fail if their file changes at all, even by a comment.

    Args:
        failing: tests that fail with an added comment in their files.
        plain: another run with unchanged files.
        base: results of the base's own code with an added comment and with unchanged files; or nothing.
    """
    return {
        each: _TOUCHY
        for each in failing
        if _is_ok(each, plain) and not (base and _is_ok(each, base[1]) and not _is_ok(each, base[0]))
    }


def _is_ok(test: str, run: RunReport) -> bool:
    return test in run.tests and run.tests[test].ok


def _may_be_ok(test: str, run: RunReport) -> bool:
    return test in run.tests and (run.tests[test].ok or run.tests[test].was_cut)


def sort_tests(
    pairs: Iterable[Answers], against: Mapping[str, str], reasons: Mapping[str, str]
) -> CounterReport:
    """Sort tests.

    Args:
        pairs: their results in each pair of runs.
        against: the refuted ones.
        reasons: all tests in question, each with the reason why it is unproven if it has no result at all.
    """
    said = dict(reasons)
    noticed: dict[str, None] = {}
    for answers in pairs:
        for test, each in answers.items():
            if each.answer is CounterTestOutcome.NOTICED:
                noticed[test] = None
            elif test in said:
                said[test] = _REASONS[each.answer]
    proven = tuple(test for test in said if test in noticed and test not in against)
    unproven = {test: why for test, why in said.items() if test not in noticed and test not in against}
    return CounterReport(proven, against, unproven)

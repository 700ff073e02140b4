"""Decides from what tests did with wrong expectations which of them are proven and which refuted."""

from collections.abc import Iterable, Mapping, Sequence

from app.runners.evaluators.testing.counter_tests.comparing import Answer, Answered
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport, Unnoticed

_REASONS = {
    Answer.UNNOTICED: "it passes with a wrong expectation, which honest code may well do there",
    Answer.DISTURBED: "it fails with its true expectation, too, beside tests with wrong ones",
    Answer.SILENT: "it does not come to its end when expectations are changed",
}

Answers = Mapping[str, Answered]
"""What tests did in one pair of runs, by id."""


def suspects(pairs: Iterable[Answers]) -> dict[str, Answered]:
    """Give the tests that did not notice a wrong expectation, each with the first such."""
    found: dict[str, Answered] = {}
    for answers in pairs:
        for test, each in answers.items():
            if each.answer is Answer.UNNOTICED:
                found.setdefault(test, each)
    return found


def unnoticed_twice(suspected: Answers, again: Answers) -> dict[str, Answered]:
    """Give the suspects that did not notice another wrong expectation in the same place either."""
    return {
        test: each
        for test, each in again.items()
        if each.answer is Answer.UNNOTICED
        and test in suspected
        and each.change.site == suspected[test].change.site
    }


def refuted(twice: Iterable[Answered], honest: Sequence[Answers]) -> dict[str, Unnoticed]:
    """Give the tests whose silence speaks against the candidate.

    Args:
        twice: tests that did not notice two wrong expectations in the same place.
        honest: what the base's own code did with the same files, for each pair of runs.
    """
    return {
        each.test: Unnoticed(each.test, each.change.site.line, each.change.site.shown, each.change.says)
        for each in twice
        if _holds(each, [answers[each.test] for answers in honest if each.test in answers])
    }


def _holds(suspect: Answered, honest: Iterable[Answered]) -> bool:
    same = [each.answer for each in honest if each.change.site == suspect.change.site]
    if Answer.UNNOTICED in same:
        return False
    return suspect.change.site.certain or (bool(same) and all(each is Answer.NOTICED for each in same))


def sort_tests(
    pairs: Iterable[Answers], against: Mapping[str, Unnoticed], reasons: Mapping[str, str]
) -> CounterReport:
    """Sort tests.

    Args:
        pairs: what they did in each pair of runs.
        against: the refuted ones.
        reasons: all tests in question, each with why it is unproven if it did nothing at all.
    """
    said = dict(reasons)
    noticed: dict[str, None] = {}
    for answers in pairs:
        for test, each in answers.items():
            if each.answer is Answer.NOTICED:
                noticed[test] = None
            elif test in said:
                said[test] = _REASONS[each.answer]
    proven = tuple(test for test in said if test in noticed and test not in against)
    unproven = {test: why for test, why in said.items() if test not in noticed and test not in against}
    return CounterReport(proven, against, unproven)

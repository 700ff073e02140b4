"""Takes tests of known bugs that a candidate fixed for passed ones."""

from dataclasses import replace

from app.runners.evaluators.testing.running.report import Outcome
from app.runners.evaluators.testing.sorting.judged import JudgedRun


def without_fixed_bugs(judged: JudgedRun) -> JudgedRun:
    """Return the runs without tests of the base that only their strict `xfail` lets fail.

    Their code passes. That counts if the candidate removed the mark, and its version passes, too: the result
    of that version stands for both. If no other test of the base passes, all stay, so that a person is asked.
    """
    if judged.of_base is None or judged.own is None:
        return judged
    theirs = judged.own.tests
    fixed = [
        each.id
        for each in judged.of_base.failures
        if each.unexpected and each.id in theirs and theirs[each.id].outcome is Outcome.PASSED
    ]
    left = judged.of_base.without(fixed)
    return replace(judged, of_base=left) if any(each.ok for each in left.tests.values()) else judged

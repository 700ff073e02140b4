"""Runs tests to the end, although some of them never return."""

import time
from collections.abc import Collection
from dataclasses import replace

from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import Outcome, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness

_MOST_RUNS = 4


async def run_past_stuck(harness: Harness, tree: RunTree, ids: Collection[str] | None = None) -> RunReport:
    """Run tests, and start again after each test for which the process had to be ended.

    With a wrong expectation, a loop in C such as `all(map(...))` over an endless iterator may never end.

    Args:
        harness: how the tests run. All runs together take no longer than its limit.
        tree: the files.
        ids: the tests or functions to run; None means all.
    """
    end = time.monotonic() + harness.seconds
    report = _without_stuck(await harness.run(tree, ids=ids))
    for _ in range(_MOST_RUNS - 1):
        seconds = end - time.monotonic()
        if not report.was_stuck or not report.unfinished or seconds <= 0:
            break
        following = await replace(harness, seconds=seconds).run(tree, ids=report.unfinished)
        report = _joined(report, _without_stuck(following))
    return report


def _without_stuck(report: RunReport) -> RunReport:
    """Count the test that was stuck as one that was ended for its limit."""
    if not report.was_stuck or not report.unfinished:
        return report
    stuck = report.unfinished[0]
    return replace(report, tests={**report.tests, stuck: RanTest(stuck, Outcome.CUT, 0.0, "")})


def _joined(report: RunReport, following: RunReport) -> RunReport:
    return replace(
        following,
        ids=report.ids,
        places=report.places,
        tests={**report.tests, **following.tests},
        left_out=(*report.left_out, *following.left_out),
    )

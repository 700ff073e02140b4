"""Asks the base's own code about a finding, and asks both again where chance may be the cause."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.runners.evaluators.testing.counter_tests.comparing import CounterTestOutcome, CounterTestResult
from app.runners.evaluators.testing.counter_tests.pairs import Pair, answers_of, run_both
from app.runners.evaluators.testing.counter_tests.sorting import Answers
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.run import Harness

_TIMES = 3
"""A test that draws its data may reach an assertion every other time. Each time more quarters the risk."""


@dataclass(frozen=True, slots=True)
class BaseControl:
    """Runs versions of the test files with the base's own code.

    Attributes:
        harness: how. It has no limits for single tests: the base's code may be slower, and its answer may
            clear the candidate.
        base: the base's tree; None if there is none.
        is_source: returns True for a file with doctests that is no test file.
    """

    harness: Harness
    base: RunTree | None
    is_source: Callable[[str], bool]

    async def answers(
        self, pair: Pair, tests: Answers, *, alone: bool = False
    ) -> dict[str, CounterTestResult]:
        """Return the results with the same files, or with these tests alone."""
        if self.base is None:
            return {}
        names = {file_of(test) for test in tests} | {each.change.unit.file.name for each in tests.values()}
        names = {name for name in names if not self.is_source(name)}
        if not names:
            return {}
        one, other = (each.restricted(names) for each in pair.versions)
        functions = set(map(function_of, tests)) if alone else None
        reports = await run_both(self.harness, self.base, (one, other), functions)
        return await asyncio.to_thread(answers_of, pair.versions, reports)

    async def steady(
        self, found: Answers, pair: Pair, harness: Harness, tree: RunTree
    ) -> dict[str, CounterTestResult]:
        """Return the findings of a pair that do not depend on chance.

        If honest code is certain to notice, one is enough. Otherwise the candidate must not notice, and the
        base must, each time.

        Args:
            found: the findings.
            pair: with the same files.
            harness: runs the candidate.
            tree: the candidate's.
        """
        certain = {test: each for test, each in found.items() if each.change.site.certain}
        left = {test: each for test, each in found.items() if test not in certain}
        for _ in range(_TIMES):
            if not left:
                break
            reports = await run_both(harness, tree, pair.versions)
            here = await asyncio.to_thread(answers_of, pair.versions, reports)
            left = _only(left, here, CounterTestOutcome.UNNOTICED)
            there = await self.answers(pair, left) if left else {}
            left = _only(left, there, CounterTestOutcome.NOTICED)
        return {**certain, **left}


def _only(tests: Answers, said: Answers, wanted: CounterTestOutcome) -> dict[str, CounterTestResult]:
    return {test: each for test, each in tests.items() if test in said and said[test].answer is wanted}

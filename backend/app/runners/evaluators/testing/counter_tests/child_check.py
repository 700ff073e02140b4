"""Asks whether tests notice wrong assertions in the code of the processes that they start."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from app.runners.evaluators.testing.counter_tests.children import child_changes
from app.runners.evaluators.testing.counter_tests.comparing import CounterTestResult
from app.runners.evaluators.testing.counter_tests.drawing import Unit, WrongExpectation
from app.runners.evaluators.testing.counter_tests.pairs import Pair, Versions
from app.runners.evaluators.testing.counter_tests.sorting import Answers, noticed, suspects
from app.runners.evaluators.testing.counter_tests.versions import Version
from app.runners.evaluators.testing.layout.trees import RunTree

_WHY = "it starts a process, and passes although every assertion in the code of that process is wrong"

RunPair = Callable[[Sequence[Unit], Collection[str], Answers, Versions], Awaitable[Pair]]
"""Runs some tests in two complementary versions."""

BaseAnswers = Callable[[Pair, Answers], Awaitable[dict[str, CounterTestResult]]]
"""Returns the results of the base's own code in the same versions."""

Complementary = Callable[
    [Sequence[Unit], Sequence[WrongExpectation], Sequence[WrongExpectation]], tuple[Version, Version]
]
"""Writes two versions from the changes of each."""


@dataclass(frozen=True, slots=True)
class ChildCheck:
    """One check of the tests of a tree that start processes.

    Attributes:
        tree: the tree that passed.
        chance: draws wrong values.
        run_pair: runs tests.
        base_answers: runs them with the base's own code.
        complementary: writes their files.
    """

    tree: RunTree
    chance: Random
    run_pair: RunPair
    base_answers: BaseAnswers
    complementary: Complementary

    async def doubted(self, units: Sequence[Unit], wanted: Collection[str]) -> dict[str, str]:
        """Return the tests that say nothing about the code, each with the reason.

        They notice neither of two changes, although they notice if the code of the process ends at once. The
        base's own code does not pass with such a change, or does not pass at all.
        """
        able = [each for each in units if each.function.child_code or each.function.named]
        left = {test for unit in able for test in unit.tests if test in wanted}
        last = Pair((Version((), {}), Version((), {})), {})
        for _ in range(2):
            last = await self._pair(able, left, self.chance)
            left = set(suspects([last.answers]))
            if not left:
                return {}
        ended = await self._pair(able, left, None)
        left &= noticed([ended.answers])
        suspected = {test: each for test, each in last.answers.items() if test in left}
        honest = await self.base_answers(last, suspected) if suspected else {}
        return {test: _WHY for test in suspected if test not in suspects([honest])}

    async def _pair(self, units: Sequence[Unit], wanted: Collection[str], chance: Random | None) -> Pair:
        some = [each for each in units if any(test in wanted for test in each.tests)]
        return await self.run_pair(some, wanted, {}, partial(self._versions, chance))

    def _versions(
        self,
        chance: Random | None,
        units: Sequence[Unit],
        wanted: Collection[str],
        before: Mapping[str, CounterTestResult],
    ) -> tuple[Version, Version] | None:
        """Change the code of processes in one of two versions. Return None if there is none."""
        changes = [] if before else child_changes(units, self.tree, chance)
        changes = [each for each in changes if any(test in wanted for test in each.tests)]
        if not changes:
            return None
        nothing: list[WrongExpectation] = []
        heads, tails = self.chance.choice(((changes, nothing), (nothing, changes)))
        return self.complementary([each.unit for each in changes], heads, tails)

"""Asks whether tests notice wrong assertions in the code of the processes that they start."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from app.runners.evaluators.testing.counter_tests.children import child_changes
from app.runners.evaluators.testing.counter_tests.comparing import CounterTestResult
from app.runners.evaluators.testing.counter_tests.drawing import Unit, WrongExpectation
from app.runners.evaluators.testing.counter_tests.pairs import NO_PAIR, Pair, Versions
from app.runners.evaluators.testing.counter_tests.sorting import Answers, noticed, suspects
from app.runners.evaluators.testing.counter_tests.versions import Version
from app.runners.evaluators.testing.layout.trees import RunTree

_WHY = "it starts a process, and passes although every assertion in the code of that process is wrong"

_CHANGES = 2
_MOST_PAIRS = 4

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
        last, left = await self._unnoticed(able, {test for unit in able for test in unit.tests} & set(wanted))
        if left:
            left &= await self._noticed_if_ended(able, left)
        suspected = {test: each for test, each in last.answers.items() if test in left}
        honest = await self.base_answers(last, suspected) if suspected else {}
        return {test: _WHY for test in suspected if test not in suspects([honest])}

    async def _unnoticed(self, units: Sequence[Unit], wanted: Collection[str]) -> tuple[Pair, set[str]]:
        """Return the last pair, and the tests that did not notice two changes.

        An answer may be missing only because the machine was busy. So a pair without one is repeated.
        """
        last, left, times = NO_PAIR, set(wanted), Counter[str]()
        for _ in range(_MOST_PAIRS):
            last = await self._pair(units, left, self.chance)
            left &= last.answers.keys() - noticed([last.answers])
            times.update(left & suspects([last.answers]).keys())
            if all(times[each] >= _CHANGES for each in left):
                break
        return last, {each for each in left if times[each] >= _CHANGES}

    async def _noticed_if_ended(self, units: Sequence[Unit], tests: Collection[str]) -> set[str]:
        """Return the tests that notice if the code of their process ends at once."""
        found: set[str] = set()
        for _ in range(_CHANGES):
            ended = await self._pair(units, set(tests) - found, None)
            found |= noticed([ended.answers])
            if found >= set(tests):
                break
        return found

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

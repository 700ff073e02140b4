"""Runs the base's tests away from the base's own code, as a control for findings there."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.pytest_outside.outside_run import Outside, OutsideRun
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness


@dataclass(frozen=True, slots=True)
class BaseAway:
    """The tests of the base tree, away from its code.

    Each run ends at the next test after a budget in seconds, because some tests take for ever there.

    Attributes:
        harness: how tests run.
        tree: gives the base's tree.
        run: runs some tests of some files beside the base's code.
    """

    harness: Harness
    tree: Callable[[], Awaitable[RunTree]]
    run: Callable[[Collection[str], Collection[str]], Awaitable[RunReport]]

    async def unlike(
        self, ids: Collection[str], all_ids: Sequence[str], trusted: frozenset[str], budget: float
    ) -> list[str]:
        """Return the tests that pass beside the base's own code, but are not known to pass away from it.

        The link to the other process may not carry what they do, so a finding needs this control.

        Args:
            ids: the tests in question.
            all_ids: those that ran with them, in this order, on which they may depend.
            trusted: the files of the test setting.
            budget: of each of two runs.

        Raises:
            OSError: the interpreter cannot be started.
        """
        if not ids:
            return []
        beside = (await self.run(set(map(file_of, ids)), ids)).tests
        honest = {each.id for each in beside.values() if each.ok}
        tree = replace(await self.tree(), trusted=trusted)
        unlike = set[str]()
        # A few tests alone are judged quickly, but one that passes alone may depend on the others.
        for chosen in (ids, _disturbing(ids, all_ids)):
            if left := honest - unlike:
                report = await Outside(self.harness).judge(tree, chosen, budget=budget)
                unlike |= left.difference(report.agrees)
        return [each for each in ids if each in unlike]

    async def answers(self, ids: Collection[str], trusted: frozenset[str], budget: float) -> frozenset[str]:
        """Return the tests to which the base's own code gives an answer away from them, be it a failure.

        Args:
            ids: the tests in question.
            trusted: the files of the test setting.
            budget: of the run.

        Raises:
            OSError: the interpreter cannot be started.
        """
        tree = replace(await self.tree(), trusted=trusted)
        report = await Outside(self.harness).judge(tree, ids, budget=budget)
        return frozenset(ids).difference(report.absent)

    async def repeating(self, ids: Collection[str], trusted: frozenset[str], budget: float) -> frozenset[str]:
        """Return the functions of the base's own code that know nothing but what tests ask.

        Args:
            ids: the tests.
            trusted: the files of the test setting.
            budget: of the run.

        Raises:
            OSError: the interpreter cannot be started.
        """
        return frozenset(each.name for each in (await self._run(ids, trusted, budget)).repeating)

    async def equal_kinds(
        self, ids: Collection[str], trusted: frozenset[str], budget: float
    ) -> frozenset[str]:
        """Return the classes of the base's own code that make an object equal to one of another class.

        Args:
            ids: the tests.
            trusted: the files of the test setting.
            budget: of the run.

        Raises:
            OSError: the interpreter cannot be started.
        """
        return frozenset((await self._run(ids, trusted, budget)).equal_kinds)

    async def _run(self, ids: Collection[str], trusted: frozenset[str], budget: float) -> OutsideRun:
        tree = replace(await self.tree(), trusted=trusted)
        return await Outside(self.harness).run(tree, set(map(file_of, ids)), ids, budget=budget)


def _disturbing(ids: Collection[str], all_ids: Sequence[str]) -> list[str]:
    """Return tests with all that may disturb them: those before them, and the import of every file."""
    last = max((number for number, each in enumerate(all_ids) if each in ids), default=len(all_ids))
    before, after = all_ids[: last + 1], all_ids[last + 1 :]
    files = set(map(file_of, before))
    return [*before, *{file_of(each): each for each in after if file_of(each) not in files}.values()]

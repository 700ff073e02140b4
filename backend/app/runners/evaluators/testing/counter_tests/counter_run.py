"""Runs tests with wrong expectations, two complementary runs at a time, and draws the conclusions."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from app.runners.evaluators.testing.counter_tests.base_equality import defines_equality
from app.runners.evaluators.testing.counter_tests.child_check import ChildCheck
from app.runners.evaluators.testing.counter_tests.comparing import CounterTestResult
from app.runners.evaluators.testing.counter_tests.complementary import ComplementaryVersions
from app.runners.evaluators.testing.counter_tests.controls import BaseControl
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.counter_tests.drawing import (
    Unit,
    units_of,
    units_with,
)
from app.runners.evaluators.testing.counter_tests.pairs import NO_PAIR, Pair, Versions, answers_of, run_both
from app.runners.evaluators.testing.counter_tests.reading import TestFile
from app.runners.evaluators.testing.counter_tests.sampling import (
    CounterTestBudget,
    Nearness,
    RunTimes,
    chance_of,
    sample,
)
from app.runners.evaluators.testing.counter_tests.silent_tests import SilentTests
from app.runners.evaluators.testing.counter_tests.sorting import (
    Answers,
    noticed,
    refuted,
    sort_tests,
    speechless,
    suspects,
    unnoticed_twice,
    worth_asking,
)
from app.runners.evaluators.testing.counter_tests.touchy_tests import TouchyTests
from app.runners.evaluators.testing.counter_tests.versions import read_test_files
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.workspaces.together import together

_NO_EXPECTATION = "it has no expectation that can be changed"
_ASKED_AGAIN = 2
_DATA_PLACES = 4
_FOR_CHILDREN = 8
_FOR_SILENT = 4.0
"""Seconds of tests that are looked through for those that compare nothing."""

_NOT_DRAWN = "there was no time for it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTests:
    """Runs the base's tests with one expectation of each made wrong.

    Every pair of runs holds each test twice: with a wrong expectation in one run and unchanged in the other.
    Chance decides which is which. The files are rewritten before the runs begin, and neither run sees both
    versions.

    A test is *proven* if it fails with the wrong expectation. It is *refuted* if it notices neither of two
    wrong expectations in the same place, and either honest code is certain to notice (see `Site.certain`), or
    the base's own code passes the test and does notice. All other tests are *unproven*.

    Attributes:
        harness: how the unchanged tests ran.
        base: the base's own tree; None if there is no base for comparison.
        budget: how long it may take.
        seed: for chance; None draws one.
    """

    harness: Harness
    base: RunTree | None
    budget: CounterTestBudget = field(default_factory=CounterTestBudget)
    seed: int | None = None

    async def check(
        self, tree: RunTree, plain: RunReport, read: Mapping[str, TestFile], nearness: Nearness
    ) -> CounterReport:
        """Check the tests of a tree that passed.

        Args:
            tree: the tree that ran; only trusted files are rewritten.
            plain: the report of that run.
            read: see `read_test_files`.
            nearness: which tests come first if not all fit.

        Raises:
            ToolTroubleError: the interpreter cannot be started.
            SandboxUnavailableError: the tests cannot be confined here.
        """
        began = time.monotonic()
        chance = chance_of(self.seed)
        files = await asyncio.to_thread(read_test_files, tree, plain, chance, read)
        units = await asyncio.to_thread(units_of, files.values(), plain.as_collected)
        passed = {each.id for each in plain.tests.values() if each.ok}
        check = _Check(self, tree, files, plain, chance, nearness)
        report = await check.run(units, passed)
        return replace(report, seconds=time.monotonic() - began)


class _Check:
    """One check of one tree."""

    def __init__(
        self,
        settings: CounterTests,
        tree: RunTree,
        files: Mapping[str, TestFile],
        plain: RunReport,
        chance: Random,
        nearness: Nearness,
    ) -> None:
        self._settings = settings
        self._tree = tree
        self._files = files
        self._plain = plain
        self._times = RunTimes(plain)
        self._chance = chance
        self._nearness = nearness
        self._made = ComplementaryVersions(tree, files, self._times, settings.budget, chance)
        self._end = time.monotonic() + settings.budget.most_seconds(plain.seconds)
        # Half of the tests fail, and what they say is not used.
        self._harness = replace(
            settings.harness,
            seconds=settings.budget.run_seconds(plain.seconds, settings.harness.seconds),
            traceback="no",
        )
        # A test that never ends with a wrong expectation must not prevent the answers of later tests.
        self._limited = replace(self._harness, test_seconds=settings.budget.limits(plain))
        # To start a process takes long while the machine is busy.
        patient = {name: _FOR_CHILDREN * each for name, each in settings.budget.limits(plain).items()}
        self._patient = replace(self._harness, test_seconds=patient)
        self._control = BaseControl(
            self._harness, settings.base, lambda name: name in files and files[name].is_source
        )

    async def run(self, units: Sequence[Unit], passed: AbstractSet[str]) -> CounterReport:
        """Run pairs with every test that fits, then another pair with those that did not notice."""
        budget = self._settings.budget
        able = [each for each in units if each.function.sites]
        drawn = sample(able, self._times, budget, self._chance, self._nearness)
        reasons = dict.fromkeys(passed, _NO_EXPECTATION)
        reasons |= {test: _NOT_DRAWN for unit in able for test in unit.tests if test in passed}
        rounds = range(budget.rounds(self._times.whole))
        pairs = [await self._pair(drawn, passed, {}, self._made.changed) for _ in rounds]
        seconds = _FOR_SILENT if self._has_time() or not budget.is_long(self._times.whole) else 0.0
        silent = SilentTests(self._limited, self._tree, self._settings.base, units, self._plain, seconds)
        unproven = sort_tests([each.answers for each in pairs], {}, reasons).unproven
        (again, against), (unreached, swayed) = await together(
            self._ask_again(drawn, pairs, self._made.changed), silent.found(unproven, passed)
        )
        answers = [each.answers for each in (*pairs, *again)]
        if self._has_time():
            touchy = TouchyTests(self._harness, self._limited, self._tree, self._settings.base, self._files)
            against |= await touchy.found_among(speechless(answers), self._chance)
        said = await self._ask_data(units, passed - noticed(answers) - against.keys(), against)
        run_pair = partial(self._pair, harness=self._patient)
        children = ChildCheck(self._tree, self._chance, run_pair, self._control.answers, self._made.of)
        doubted = await children.doubted(units, passed - against.keys())
        report = sort_tests([*answers, *said], against, reasons)
        unreached = tuple(each for each in unreached if each in report.unproven)
        return replace(report, doubted=doubted, unreached=unreached, swayed=swayed)

    async def _ask_data(
        self, units: Sequence[Unit], wanted: Collection[str], against: dict[str, str]
    ) -> list[Answers]:
        """Make expectations in data files wrong, one after the other, for tests that are not proven yet."""
        able = [each for each in units_with(units, wanted) if each.function.data]
        drawn = sample(able, self._times, self._settings.budget, self._chance, self._nearness)
        places = list(dict.fromkeys(each.data for unit in drawn for each in unit.function.data if each.data))
        said: list[Answers] = []
        for place in self._chance.sample(places, min(len(places), _DATA_PLACES)):
            left = {test for test in wanted if test not in noticed(said)}
            if said and not self._has_time():
                break
            versions = partial(self._made.with_data, place)
            pairs = [await self._pair(drawn, left, {}, versions)]
            again, found = await self._ask_again(drawn, pairs, versions)
            against |= found
            said += [each.answers for each in (*pairs, *again)]
        return said

    async def _ask_again(
        self, units: Sequence[Unit], pairs: Sequence[Pair], versions: Versions
    ) -> tuple[list[Pair], dict[str, str]]:
        """Change the unnoticed expectations again, to another value, unless the base clears them."""
        suspected = suspects(each.answers for each in pairs)
        if not suspected:
            return [], {}
        # Asked alone, the base clears most suspects quickly. The others may depend on the tests before them.
        for alone in (True, False):
            honest = [await self._control.answers(pair, suspected, alone=alone) for pair in pairs]
            suspected = worth_asking(suspected, honest)
        again: list[Pair] = []
        twice: dict[str, CounterTestResult] = {}
        while (left := suspected.keys() - twice.keys()) and len(again) < _ASKED_AGAIN:
            # The first check of a suspicion ignores the time limit, because each run has its own.
            if again and not self._has_time():
                break
            again.append(await self._pair(units_with(units, left), left, suspected, versions))
            twice |= unnoticed_twice(suspected, again[-1].answers)
        honest = [await self._control.answers(pair, suspected) for pair in again] if twice else []
        against = refuted(twice.values(), honest)
        steady: set[str] = set()
        for pair in again:
            found = {test: twice[test] for test in against if pair.answers.get(test) is twice[test]}
            steady.update(await self._control.steady(found, pair, self._limited, self._tree))
        against = {test: why for test, why in against.items() if test in steady}
        left = {test: twice[test] for test in against}
        return again, {test: against[test] for test in await self._unable(units, left, honest, versions)}

    async def _unable(
        self, units: Sequence[Unit], found: Answers, honest: Sequence[Answers], versions: Versions
    ) -> list[str]:
        """Return the tests that also fail to notice a wrong expectation in another place.

        Objects of the base's own classes may be equal though a part differs, such as versions with other
        build numbers. Then a test may well ignore one place. If the base's code passes the test, that shows
        it; otherwise another place must go unnoticed, too.
        """
        shown = noticed(honest)
        doubtful = {test: each for test, each in found.items() if test not in shown}
        if not doubtful or not await asyncio.to_thread(defines_equality, self._settings.base):
            return [*found]
        elsewhere = {
            test: replace(each, change=replace(each.change, elsewhere=True))
            for test, each in doubtful.items()
        }
        other = await self._pair(units_with(units, doubtful), doubtful, elsewhere, versions)
        able = noticed([other.answers])
        return [each for each in found if each not in able]

    async def _pair(
        self,
        units: Sequence[Unit],
        wanted: Collection[str],
        before: Answers,
        make: Versions,
        harness: Harness | None = None,
    ) -> Pair:
        versions = await asyncio.to_thread(make, units, wanted, before)
        if versions is None:
            return NO_PAIR
        reports = await run_both(harness or self._limited, self._tree, versions)
        answers = await asyncio.to_thread(answers_of, versions, reports)
        return Pair(versions, {test: each for test, each in answers.items() if test in wanted})

    def _has_time(self) -> bool:
        return time.monotonic() < self._end

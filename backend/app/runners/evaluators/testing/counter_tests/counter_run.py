"""Runs tests with wrong expectations, two complementary runs at a time, and says what that shows."""

import asyncio
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from app.runners.evaluators.testing.counter_tests.comparing import (
    Answered,
    Half,
    answers_by_test,
    compare,
)
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport, Unnoticed
from app.runners.evaluators.testing.counter_tests.drawing import Change, Unit, draw, rewritten, units_of
from app.runners.evaluators.testing.counter_tests.reading import TestFile, read_test_file
from app.runners.evaluators.testing.counter_tests.sampling import Budget, sample
from app.runners.evaluators.testing.counter_tests.sorting import (
    refuted,
    sort_tests,
    suspects,
    unnoticed_twice,
)
from app.runners.evaluators.testing.inventory import file_of
from app.runners.evaluators.testing.report import RunReport
from app.runners.evaluators.testing.run import Harness, run_directory
from app.runners.evaluators.testing.trees import RunTree
from app.workspaces.together import together

_NO_EXPECTATION = "it has no expectation that can be changed"
_ASKED_AGAIN = 2
_NOT_DRAWN = "there was no time for it"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two complementary versions of the test files, and what they answered."""

    versions: tuple["_Version", "_Version"]
    answers: Mapping[str, Answered]


@dataclass(frozen=True, slots=True)
class _Version:
    changes: tuple[Change, ...]
    texts: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTests:
    """Runs the base's tests with one expectation of each made wrong.

    Every pair of runs holds each test twice: with a wrong expectation in one run, as it is in the other, and
    chance says which is which. The files are rewritten before the runs begin, and neither run sees both.

    A test is *proven* when it fails with the wrong expectation. It is *refuted* when it notices neither of
    two wrong expectations in the same place, and either honest code is sure to notice (see `Site.certain`),
    or the base's own code passes the test and does notice. Everything else is *unproven*.

    Attributes:
        harness: how the tests ran as they are.
        base: the base's own tree; None where there is none to compare with.
        budget: how long it may take.
        seed: for chance; None draws one.
    """

    harness: Harness
    base: RunTree | None
    budget: Budget = field(default_factory=Budget)
    seed: int | None = None

    async def check(self, tree: RunTree, plain: RunReport) -> CounterReport:
        """Check the tests of a tree that passed.

        Args:
            tree: what was run; only files that are trusted are rewritten.
            plain: what came of it.

        Raises:
            ToolTroubleError: the interpreter cannot be started.
            SandboxUnavailableError: the tests cannot be confined here.
        """
        began = time.monotonic()
        files = await asyncio.to_thread(_files, tree, plain)
        units = units_of(files.values(), plain.ids)
        passed = {each.id for each in plain.tests.values() if each.ok}
        check = _Check(self, tree, files, plain, _chance(self.seed))
        report = await check.run(units, passed)
        return replace(report, seconds=time.monotonic() - began)


def _chance(seed: int | None) -> Random:
    # What chance decides is written into the files that the tests run from: there is nothing to foretell.
    return Random(secrets.randbits(64) if seed is None else seed)  # noqa: S311


class _Check:
    """One check of one tree."""

    def __init__(
        self,
        settings: CounterTests,
        tree: RunTree,
        files: Mapping[str, TestFile],
        plain: RunReport,
        chance: Random,
    ) -> None:
        self._settings = settings
        self._tree = tree
        self._files = files
        self._plain = plain
        self._chance = chance
        self._harness = replace(
            settings.harness, seconds=settings.budget.run_seconds(plain.seconds, settings.harness.seconds)
        )

    async def run(self, units: Sequence[Unit], passed: Collection[str]) -> CounterReport:
        """Run pairs with every test that fits, then one with those that did not notice in one of them."""
        budget = self._settings.budget
        able = [each for each in units if each.function.sites]
        drawn = sample(able, self._plain, budget, self._chance)
        reasons = dict.fromkeys(passed, _NO_EXPECTATION)
        reasons |= {test: _NOT_DRAWN for unit in able for test in unit.tests if test in passed}
        pairs = [await self._pair(drawn, passed, {}) for _ in range(budget.rounds(self._plain))]
        unnoticed = suspects(each.answers for each in pairs)
        again, against = await self._ask_again(drawn, unnoticed)
        return sort_tests([each.answers for each in (*pairs, *again)], against, reasons)

    async def _ask_again(
        self, units: Sequence[Unit], unnoticed: Mapping[str, Answered]
    ) -> tuple[list[_Pair], dict[str, Unnoticed]]:
        """Change the same expectations into something else, and ask the base about those that still pass."""
        pairs: list[_Pair] = []
        twice: dict[str, Answered] = {}
        while (left := unnoticed.keys() - twice.keys()) and len(pairs) < _ASKED_AGAIN:
            pairs.append(await self._pair(_of(units, left), left, unnoticed))
            twice |= unnoticed_twice(unnoticed, pairs[-1].answers)
        honest = [await self._base_answers(pair) for pair in pairs] if twice else []
        return pairs, refuted(twice.values(), honest)

    async def _pair(
        self, units: Sequence[Unit], wanted: Collection[str], before: Mapping[str, Answered]
    ) -> _Pair:
        tried = {test: each.change for test, each in before.items()}
        changes = [each for unit in units for each in draw(unit, self._chance, wanted, tried)]
        versions = self._versions(units, changes)
        reports = await self._run_both(self._tree, versions)
        one, other = (Half(each.changes, said) for each, said in zip(versions, reports, strict=True))
        answers = answers_by_test(compare((one, other)))
        return _Pair(versions, {test: each for test, each in answers.items() if test in wanted})

    def _versions(self, units: Sequence[Unit], changes: Iterable[Change]) -> tuple[_Version, _Version]:
        """Divide changes by the toss of a coin; files that cannot be rewritten are left out."""
        heads: list[Change] = []
        tails: list[Change] = []
        for each in changes:
            self._chance.choice((heads, tails)).append(each)
        names = {unit.file.name for unit in units} | {file_of(test) for unit in units for test in unit.tests}
        files = [self._files[name] for name in sorted(names)]
        run = {(unit.file.name, unit.function.name) for unit in units}
        one, other = (_Version(tuple(each), _texts(files, each, run)) for each in (heads, tails))
        return one, other

    async def _run_both(
        self, tree: RunTree, versions: tuple[_Version, _Version]
    ) -> tuple[RunReport, RunReport]:
        async with run_directory() as place:
            trees = await asyncio.to_thread(_write, tree, versions, place)
            return await together(self._harness.run(trees[0]), self._harness.run(trees[1]))

    async def _base_answers(self, pair: _Pair) -> dict[str, Answered]:
        """Say what the base's own code does with the same files."""
        base = self._settings.base
        if base is None:
            return {}
        reports = await self._run_both(base, pair.versions)
        one, other = (Half(each.changes, said) for each, said in zip(pair.versions, reports, strict=True))
        return answers_by_test(compare((one, other)))


def _files(tree: RunTree, plain: RunReport) -> dict[str, TestFile]:
    names = sorted(tree.trusted.intersection(map(file_of, plain.ids)))
    files = [_read(tree.files[name] / name, name) for name in names if name.endswith(".py")]
    return {each.name: each for each in files if each is not None}


def _read(path: Path, name: str) -> TestFile | None:
    try:
        return read_test_file(name, path.read_bytes())
    except OSError:
        return None


def _of(units: Sequence[Unit], wanted: Collection[str]) -> list[Unit]:
    return [each for each in units if any(test in wanted for test in each.tests)]


def _texts(
    files: Sequence[TestFile], changes: Sequence[Change], run: Collection[tuple[str, str]]
) -> dict[str, bytes]:
    texts: dict[str, bytes] = {}
    for file in files:
        of_file = [each for each in changes if each.unit.file is file]
        idle = [each for each in file.functions.values() if (file.name, each.name) not in run]
        text = rewritten(file, of_file, idle)
        if text is not None:
            texts[file.name] = text
    return texts


def _write(tree: RunTree, versions: tuple[_Version, _Version], place: Path) -> tuple[RunTree, RunTree]:
    one, other = (_written(tree, each.texts, place / str(i)) for i, each in enumerate(versions))
    return one, other


def _written(tree: RunTree, texts: Mapping[str, bytes], place: Path) -> RunTree:
    for name, text in texts.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    present = {name: place for name in texts if name in tree.files}
    return replace(tree, files={**tree.files, **present}, only=frozenset(texts))

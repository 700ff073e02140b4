"""Which tests run away from the code that they test, and whose fault it is when they fail there."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar, cast

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.at_base.base_away import BaseAway
from app.runners.evaluators.testing.away import Away, time_left
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.pytest_outside.outside_run import Outside
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.testing.gate_support import GOOD, run

pytestmark = pytest.mark.anyio

SEES_ITS_NAMES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_names.py": (
        "import calc\n\ndef test_names():\n    assert 'add' in vars(calc)\n\n"
        "def test_add():\n    assert calc.add(1, 2) == 3\n"
    ),
}


async def test_what_the_base_does_not_pass_away_from_its_code_is_held_against_nobody(context) -> None:
    changed = {**SEES_ITS_NAMES, "calc.py": "def add(a, b):\n    return b + a\n"}
    result = await run(context, changed, SEES_ITS_NAMES)
    assert result.status == "passed", result.feedback
    outside = result.metadata["outside"]
    assert outside["agrees"] == 1
    assert outside["reasons"] == {"it does not pass there with the base's code either": 1}


BEGUN = [
    pytest.param(SandboxMode.REQUIRED, id="beside the other"),
    pytest.param(SandboxMode.OFF, id="after the other"),
]
EQUALS_ALL = "class Any:\n    def __eq__(self, other):\n        return True\n\n"


@pytest.mark.parametrize("mode", BEGUN)
async def test_a_base_that_passes_away_from_its_code_shows_a_forger(context, mode: SandboxMode) -> None:
    forged = {**GOOD, "calc.py": f"{EQUALS_ALL}def add(a, b):\n    return Any()\n"}
    evaluator = PytestEvaluator(timeout=PATIENCE, sandbox=Sandbox(SandboxSettings(mode=mode)))
    result = await evaluator.evaluate("coding", "", context(forged, GOOD))
    assert result.status == "failed"
    assert "passed only in the same process" in result.feedback


DOCTESTED = {
    "pytest.ini": "[pytest]\naddopts = --doctest-glob=tests/*.txt\n",
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/calc.txt": ">>> from calc import add\n>>> add(1, 2) == 3\nTrue\n",
}


@pytest.mark.parametrize("mode", BEGUN)
async def test_a_doctest_of_the_base_is_run_away_from_the_code_too(context, mode: SandboxMode) -> None:
    evaluator = PytestEvaluator(timeout=PATIENCE, sandbox=Sandbox(SandboxSettings(mode=mode)))
    result = await evaluator.evaluate("coding", "", context({**DOCTESTED, "more.py": ""}, DOCTESTED))
    assert (result.status, result.metadata["outside"]["agrees"]) == ("passed", 1)


async def test_a_doctest_that_the_candidate_rewrites_is_the_base_s(context) -> None:
    gamed = {
        **DOCTESTED,
        "calc.py": "def add(a, b):\n    return a - b\n",
        "tests/calc.txt": ">>> from calc import add\n>>> add(1, 2)\n-1\n",
    }
    result = await run(context, gamed, DOCTESTED)
    assert result.status == "failed", result.metadata


@pytest.mark.parametrize(
    ("seconds", "left"),
    [
        pytest.param(0.5, 9.3, id="a short suite has almost ten seconds in all"),
        pytest.param(4.0, 4.4, id="fewer, the longer the suite is"),
        pytest.param(8.0, 2.8, id="a third as long again"),
        pytest.param(40.0, 14.0, id="a long suite, too"),
    ],
)
def test_the_run_away_from_the_code_takes_at_most_a_third_as_long_again(seconds: float, left: float) -> None:
    assert time_left(seconds) == pytest.approx(left)


class SlowBase:
    """A control that takes a while by the loop's clock. It clears no finding."""

    def __init__(self, take: Callable[[float], Awaitable[None]]) -> None:
        self._take = take
        self.away = self

    async def unlike(self, *_: object) -> list[str]:
        await self._take(20.0)
        return []


async def test_a_finding_is_confirmed_although_the_first_run_took_most_of_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loop = asyncio.get_running_loop()
    clock, passed_by, budgets = loop.time, [0.0], list[float | None]()
    monkeypatch.setattr(loop, "time", lambda: clock() + passed_by[0])

    async def take(seconds: float) -> None:
        passed_by[0] += seconds
        # A limit that is over by now ends the task that waits here.
        for _ in range(3):
            await asyncio.sleep(0)

    async def judge(_: Outside, *__: object, budget: float | None, **___: object) -> OutsideReport:
        budgets.append(budget)
        # In the first run, the code lets most of the time pass without an answer.
        await take(25.0 if len(budgets) == 1 else 10.0)
        return OutsideReport(disagrees={"test_a.py::test_a": "the candidate's code does not return"})

    monkeypatch.setattr(Outside, "judge", judge)
    tree = RunTree({"test_a.py": tmp_path}, frozenset({"test_a.py"}))
    harness = Harness(
        python=Path(sys.executable), base=tmp_path, seconds=120, sandbox=Sandbox(SandboxSettings())
    )
    tests = [RanTest("test_a.py::test_a", Outcome.PASSED, 0.0, "")]
    report = await Away(harness, tree).report(tests, cast("BaseTests", SlowBase(take)), 2.0)
    assert report is not None
    assert (list(report.disagrees), report.trouble) == (["test_a.py::test_a"], "")
    assert budgets == [pytest.approx(9.2)] * 2, "the second run reaches the same tests"


SOME = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_a.py": "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n",
    "tests/test_b.py": "from calc import add\n\ndef test_b():\n    assert add(2, 2) == 4\n",
}


class HeldRun(Outside):
    """Runs the tests it is given. A run without chosen tests always ends after one of the two files."""

    asked: ClassVar[list[list[str] | None]] = []

    async def run(self, tree, files, ids=None, **options):
        self.asked.append(None if ids is None else sorted(ids))
        if ids is None:
            return await super().run(tree, ["tests/test_a.py"])
        return await super().run(tree, files, ids, **options)


async def test_what_an_early_run_has_shown_is_kept_when_it_makes_room(
    monkeypatch: pytest.MonkeyPatch, context
) -> None:
    monkeypatch.setattr("app.runners.evaluators.testing.away.Outside", HeldRun)
    monkeypatch.setattr("app.runners.evaluators.testing.away._TO_END", PATIENCE)
    HeldRun.asked.clear()
    red = {**SOME, "tests/test_red.py": "def test_red():\n    open('/nowhere/at/all')\n"}
    changed = {**red, "calc.py": "def add(a, b):\n    return b + a\n"}

    def made(files, base):
        return {**context(files, base), "goal": "Turn the sum round"}

    result = await run(made, changed, red, counter_tests="off")
    assert [each.id for each in result.questions] == ["tests/test_red.py::test_red"]
    assert result.metadata["outside"]["agrees"] == 2
    assert HeldRun.asked == [None, ["tests/test_b.py::test_b"]]


async def test_a_base_s_test_is_run_beside_the_files_that_disturb_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first, before, beside, later = (
        "tests/test_a.py::a",
        "tests/test_b.py::b",
        "tests/test_b.py::c",
        "x/d.py::d",
    )
    told: list[list[str]] = []

    async def judge(_: Outside, __: object, ids: list[str], **___: object) -> OutsideReport:
        told.append(list(ids))
        return OutsideReport(agrees=() if later in ids else tuple(ids))

    async def run_beside(*_: object) -> RunReport:
        return RunReport(
            PytestEnding.COMPLETE, code=0, tests={before: RanTest(before, Outcome.PASSED, 0.0, "")}
        )

    async def tree() -> RunTree:
        return RunTree({}, frozenset())

    monkeypatch.setattr(Outside, "judge", judge)
    base = BaseAway(cast("Harness", None), tree, run_beside)
    found = await base.unlike([before], [first, before, beside, later], frozenset(), 1)
    assert (found, told) == ([before], [[before], [first, before, later]])

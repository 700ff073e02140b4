"""A test that waits or works without end is ended, and others still run. A long run is not ended."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

pytestmark = pytest.mark.anyio

FOREVER = 3_600.0


async def ran(place: Path, body: str, *, mode: SandboxMode = SandboxMode.PREFERRED) -> RunReport:
    (place / "test_it.py").write_text(
        f"import subprocess, sys, time\n\ndef test_it():\n    {body}\n\ndef test_next():\n    pass\n"
    )
    sandbox = Sandbox(SandboxSettings(mode=mode))
    harness = Harness(python=Path(sys.executable), base=None, seconds=FOREVER, sandbox=sandbox, patience=4.0)
    return await harness.run(whole_tree(place))


@pytest.mark.parametrize("mode", [SandboxMode.PREFERRED, SandboxMode.OFF])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("time.sleep(3_600)", id="sleeps"),
        pytest.param("while True: time.sleep(0.1)", id="asks again and again"),
        pytest.param(
            "subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE).wait()",
            id="waits for a child",
        ),
    ],
)
async def test_what_only_waits_is_ended(tmp_path: Path, body: str, mode: SandboxMode) -> None:
    report = await ran(tmp_path, body, mode=mode)
    assert_only_it_was_cut(report)


def assert_only_it_was_cut(report: RunReport) -> None:
    assert report.ending is PytestEnding.COMPLETE
    assert {name: each.was_cut for name, each in report.tests.items()} == {
        "test_it.py::test_it": True,
        "test_it.py::test_next": False,
    }
    assert re.search(r":\d+: it did not end\Z", report.tests["test_it.py::test_it"].message)
    assert report.tests["test_it.py::test_next"].ok


FOREVER_AT_WORK = "while True: pass"
SWALLOWS = "while True:\n        try: time.sleep(3_600)\n        except BaseException: pass"
CHILD = "subprocess.run([sys.executable, '-c', 'while True: pass'])"


@pytest.mark.parametrize(
    "body", [pytest.param(FOREVER_AT_WORK, id="itself"), pytest.param(CHILD, id="a child")]
)
async def test_a_test_that_works_without_end_is_ended(tmp_path: Path, body: str) -> None:
    assert_only_it_was_cut(await ran(tmp_path, body))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("import itertools; sum(itertools.count())", id="a call into C"),
        pytest.param(SWALLOWS, id="it goes on in spite of that"),
    ],
)
async def test_a_test_that_cannot_be_ended_ends_the_run(tmp_path: Path, body: str) -> None:
    report = await ran(tmp_path, body)
    assert report.ending is PytestEnding.TIMED_OUT
    assert report.unfinished[0] == "test_it.py::test_it"


async def test_a_set_up_and_a_tear_down_that_wait_are_ended(tmp_path: Path) -> None:
    fixtures = (
        "pass\n\nimport pytest\n\n@pytest.fixture(scope='module')\ndef server():\n    time.sleep(3_600)\n\n"
        "@pytest.fixture\ndef late():\n    yield\n    time.sleep(3_600)\n\n"
        "def test_one(server):\n    pass\n\ndef test_two(server):\n    pass\n\n"
        "def test_late(late):\n    pass\n"
    )
    report = await ran(tmp_path, fixtures)
    assert report.ending is PytestEnding.COMPLETE
    bad = {name.rpartition("::")[2]: each.outcome.value for name, each in report.tests.items() if each.bad}
    # The second test does not wait again for what the first one waited for.
    assert bad == {"test_one": "cut", "test_two": "error", "test_late": "cut"}


async def test_a_run_that_works_for_long_is_not_ended(tmp_path: Path) -> None:
    work = "began = time.process_time()\n    while time.process_time() < began + 1.5: pass"
    more = [f"def test_{number}():\n    {work}\n" for number in range(5)]
    report = await ran(tmp_path, "\n".join([work, *more]))
    assert report.ending is PytestEnding.COMPLETE
    assert [each.ok for each in report.tests.values()] == [True] * 7
    assert report.left_out == ()


async def test_four_tests_of_a_run_are_ended_and_then_the_run(tmp_path: Path) -> None:
    more = "".join(f"\n\ndef test_{number}():\n    time.sleep(3_600)\n" for number in range(2, 7))
    report = await ran(tmp_path, f"time.sleep(3_600)\n\ndef test_before():\n    pass\n{more}")
    assert report.ending is PytestEnding.TIMED_OUT
    assert [name.rpartition("_")[2] for name in report.cut] == ["it", "2", "3", "4"]
    assert report.unfinished[0] == "test_it.py::test_5"


TWO = (
    "from calc import add\n\n\ndef test_one():\n    assert add(1, 2) == 3\n\n\n"
    "def test_two():\n    assert add(2, 2) == 4\n"
)


async def test_code_that_never_ends_fails_its_test_alone(context, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    run = Harness.run

    async def noted(self: Harness, tree: RunTree, **options: Any) -> RunReport:
        asked.append(sorted(options.get("ids") or []))
        return await run(self, tree, **options)

    monkeypatch.setattr(Harness, "run", noted)
    base = {"calc.py": "def add(a, b):\n    return 3\n", "tests/test_calc.py": TWO}
    loops = "def add(a, b):\n    while a == 1:\n        pass\n    return a + b\n"
    made = context({**base, "calc.py": loops}, base)
    result = await PytestEvaluator(timeout=6.0, outside=False).evaluate("coding", "", made)
    assert result.status == "failed"
    assert result.feedback.startswith("1 of 2 tests failed\n- Fix tests/test_calc.py::test_one: calc.py:")
    assert "it did not end" in result.feedback
    one = "tests/test_calc.py::test_one"
    # Alone at the base, to see whether it ends there; and then no more here.
    assert [each for each in asked if each] in ([[one]], [[one], [one]]), asked

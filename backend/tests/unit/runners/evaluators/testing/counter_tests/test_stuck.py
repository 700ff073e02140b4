"""A test that never returns to Python costs its own result, and no other test's."""

import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing.counter_tests.stuck import run_past_stuck
from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

pytestmark = pytest.mark.anyio

SANDBOX = Sandbox(SandboxSettings(mode=SandboxMode.PREFERRED))

TESTS = """import itertools

def test_before():
    assert True

def test_first_stuck():
    assert sum(itertools.count())

def test_between():
    assert True

def test_second_stuck():
    assert sum(itertools.count())

def test_after():
    assert False
"""
FUNCTIONS = ("test_before", "test_first_stuck", "test_between", "test_second_stuck", "test_after")
IDS = [f"test_code.py::{name}" for name in FUNCTIONS]


def harness(path: Path, *limited: str) -> Harness:
    (path / "test_code.py").write_text(TESTS)
    limits = dict.fromkeys(limited, 0.2)
    return Harness(python=Path(sys.executable), base=None, seconds=600, sandbox=SANDBOX, test_seconds=limits)


async def test_the_run_goes_on_after_each_stuck_test(tmp_path: Path) -> None:
    report = await run_past_stuck(harness(tmp_path, *IDS), whole_tree(tmp_path))
    assert report.ending is PytestEnding.COMPLETE
    assert list(report.ids) == IDS
    assert [report.tests[each].outcome for each in IDS] == [
        Outcome.PASSED,
        Outcome.CUT,
        Outcome.PASSED,
        Outcome.CUT,
        Outcome.FAILED,
    ]


async def test_the_last_test_may_be_the_stuck_one(tmp_path: Path) -> None:
    report = await run_past_stuck(harness(tmp_path, *IDS), whole_tree(tmp_path), IDS[:2])
    assert {name: each.outcome for name, each in report.tests.items()} == {
        IDS[0]: Outcome.PASSED,
        IDS[1]: Outcome.CUT,
    }


WAITS_AT_THE_END = """import signal

import pytest


@pytest.fixture
def queue():
    left = [1]
    yield left
    while left:
        signal.pause()

@pytest.fixture
def told():
    yield
    print("also ended")

def test_waits(told, queue):
    assert False
    queue.clear()

def test_after(queue):
    queue.clear()
"""


async def test_a_fixture_that_waits_for_ever_costs_no_other_test(tmp_path: Path) -> None:
    (tmp_path / "test_code.py").write_text(WAITS_AT_THE_END)
    limits = {"test_code.py::test_waits": 0.2, "test_code.py::test_after": 0.2}
    harness = Harness(
        python=Path(sys.executable), base=None, seconds=600, sandbox=SANDBOX, test_seconds=limits
    )
    report = await harness.run(whole_tree(tmp_path))
    assert report.ending is PytestEnding.COMPLETE
    assert report.tests["test_code.py::test_waits"].outcome is Outcome.FAILED
    assert "assert False" in report.tests["test_code.py::test_waits"].message
    assert report.tests["test_code.py::test_after"].ok
    assert "also ended" in report.text

"""Projects that are plug-ins of pytest, and change how it runs and reports tests."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import judge

pytestmark = pytest.mark.anyio

PLUGIN = """import _pytest.unittest


def pytest_configure():
    _pytest.unittest.TestCaseFunction.noted = []


def count():
    return 1
"""
TESTS = """import counting


def test_count():
    counting.pytest_configure()
    assert counting.count() == 1
"""
PROJECT = '[project]\nname = "pytest-counting"\nversion = "1"\n'
ENTRY = '[project.entry-points.pytest11]\ncounting = "counting"\n'
BASE = {"counting.py": PLUGIN, "tests/test_counting.py": TESTS, "pyproject.toml": PROJECT + ENTRY}
REPLACES = PLUGIN.replace("noted = []", "addSkip = lambda self, case, reason: None")


async def test_a_person_is_asked_about_what_a_plugin_replaces(context) -> None:
    result = await judge(context({**BASE, "counting.py": REPLACES}, BASE))
    assert result.status == "failed", result.feedback
    assert [each.text for each in result.questions] == [
        "The code replaces `_pytest.unittest.TestCaseFunction.addSkip`: may it?"
    ]


async def test_a_project_that_is_no_plugin_replaces_nothing_of_pytest(context) -> None:
    base = {**BASE, "pyproject.toml": PROJECT}
    result = await judge(context({**BASE, "counting.py": REPLACES}, base))
    assert result.status == "failed"
    assert not result.questions
    assert "_pytest.unittest.TestCaseFunction.addSkip was replaced" in result.feedback


async def test_a_fault_beside_it_fails(context) -> None:
    result = await judge(context({**BASE, "counting.py": REPLACES.replace("return 1", "return 2")}, BASE))
    assert result.status == "failed"
    assert not result.questions


async def test_a_policy_that_does_not_ask_fails_the_attempt(context) -> None:
    evaluator = PytestEvaluator(protected=ProtectedPolicy.FAIL)
    result = await evaluator.evaluate("coding", "", context({**BASE, "counting.py": REPLACES}, BASE))
    assert result.status == "failed"
    assert not result.questions

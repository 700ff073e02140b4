"""Tests that want a network and do not say so: neither they nor the code under test is at fault."""

from dataclasses import replace

import pytest

from app.runners.evaluators.testing.running.reaching import without_network
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

# It swallows the error, so what the test says is about the code.
CODE = """import socket
import subprocess
import sys


def is_up(host):
    try:
        socket.create_connection((host, 80), 1).close()
    except OSError:
        return False
    return True


def is_up_for_others(host):
    program = "import socket, sys; socket.create_connection((sys.argv[1], 80), 1)"
    return subprocess.run([sys.executable, "-c", program, host], capture_output=True).returncode == 0


def add(a, b):
    return a + b
"""
TEST_ADD = "from calc import add, is_up, is_up_for_others\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


def calling(call: str) -> dict[str, str]:
    return {"calc.py": CODE, "tests/test_calc.py": f"{TEST_ADD}\n\ndef test_call():\n    assert {call}\n"}


def judged(context, call: str, goal: str, **options):
    explained = {"calc.py": CODE.replace("    return a + b", "    # The sum.\n    return a + b")}

    def made(files, base):
        return {**context(files, base), "goal": goal}

    base = calling(call)
    return run(made, {**base, **explained}, base, outside=False, counter_tests="off", **options)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("is_up('example.com')", id="by name"),
        pytest.param("is_up('192.0.2.1')", id="by address"),
        pytest.param("is_up_for_others('example.com')", id="in another process"),
    ],
)
async def test_a_test_that_wants_a_network_is_a_note(context, call) -> None:
    result = await judged(context, call, "Explain add")
    assert (result.status, result.questions) == ("passed", [])
    assert "needs a network" in result.feedback


async def test_a_network_of_this_machine_is_one(context) -> None:
    result = await judged(context, "is_up('127.0.0.1')", "Explain add")
    assert [each.id for each in result.questions] == ["tests/test_calc.py::test_call"]


@pytest.mark.parametrize("goal", ["Make the tests pass", "Mend calc.py"])
async def test_a_goal_that_may_mean_the_test_gets_a_question(context, goal) -> None:
    result = await judged(context, "is_up('example.com')", goal)
    assert [each.id for each in result.questions] == ["tests/test_calc.py::test_call"]


@pytest.mark.parametrize(
    ("host", "asked"), [("example.com", ["tests/test_up.py::test_up"]), ("127.0.0.1", [])]
)
async def test_a_new_test_that_wants_a_network_is_a_question(context, host: str, asked: list[str]) -> None:
    base = {"calc.py": CODE, "tests/test_calc.py": TEST_ADD}
    new = {"tests/test_up.py": f"from calc import is_up\n\n\ndef test_up():\n    assert is_up('{host}')\n"}
    result = await run(context, {**base, **new}, base, outside=False, counter_tests="off")
    assert (result.status, [each.id for each in result.questions]) == ("failed", asked)


def test_tests_that_share_a_fixture_want_a_network_together() -> None:
    failing = {
        name: RanTest(name, outcome, 0.1, f"tests/conftest.py:4: {message}")
        for name, outcome, message in [
            ("a", Outcome.ERROR, "no answer"),
            ("b", Outcome.ERROR, "no answer"),
            ("c", Outcome.ERROR, "another"),
            ("d", Outcome.FAILED, "no answer"),
            ("e", Outcome.PASSED, ""),
        ]
    }
    for name in ("a", "e"):
        failing[name] = replace(failing[name], sought_network=True)
    report = RunReport(PytestEnding.COMPLETE, tests=failing)
    assert without_network(["a", "b", "c", "d", "e", "f"], report) == {"a", "b"}

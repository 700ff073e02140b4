"""What the process of the judge does not do for tests, and what plug-ins and Python itself may do in it."""

import subprocess
import sys

import pytest

from tests.unit.runners.evaluators.testing.outside_support import judged

LOADING = """
import subprocess, sys
from pathlib import Path

from app.runners.evaluators.testing.pytest_outside.guard import CandidateCodeGuard
from app.runners.evaluators.testing.pytest_outside.link import UncarriedError


class Link:
    def note(self, reason, *, hard):
        print(reason)


guard = CandidateCodeGuard(Path("/tree"), frozenset(), Link())
guard.install()
subprocess.run([sys.executable, "-c", ""], check=True)
print("plug-ins are loaded")
next(guard.pytest_load_initial_conftests())
try:
    subprocess.run([sys.executable, "-c", ""], check=True)
except UncarriedError:
    print("kept back")
"""


def test_a_plugin_may_start_a_process_while_it_is_loaded() -> None:
    ended = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "plug-ins are loaded",
        "the test starts another process",
        "kept back",
    ]


MACHINE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": (
        "import ctypes.util\nimport subprocess\nimport sys\n\nfrom calc import add\n\n"
        "LIBRARY = ctypes.util.find_library('c')\n\n\n"
        "def test_add():\n    assert LIBRARY\n    assert add(1, 2) == 3\n\n\n"
        "def test_process():\n    subprocess.run([sys.executable, '-c', 'import calc'], check=True)\n"
    ),
}


@pytest.mark.anyio
async def test_a_file_that_asks_the_machine_for_a_library_is_evidence(tree) -> None:
    passed, report = await judged(tree(MACHINE))
    assert len(passed) == 2
    assert report.agrees == ("tests/test_calc.py::test_add",)


@pytest.mark.anyio
async def test_a_project_with_a_log_file_has_evidence(tree) -> None:
    _, report = await judged(tree({**MACHINE, "pytest.ini": "[pytest]\nlog_file = logs/tests.log\n"}))
    assert report.agrees == ("tests/test_calc.py::test_add",)

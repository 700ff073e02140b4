"""No one reads the failures of canaries, and yet a hook of the tests finds in them what it expects."""

import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.run import Harness
from app.workspaces.files.limits import DEFAULT_LIMITS
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

PLACES = """import pytest

class Places:
    found = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if report.failed:
            self.found.add((item.nodeid, report.longrepr.reprtraceback.reprentries[-1].reprfileloc.lineno))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(f"{len(self.found)} failures had a place")

def pytest_configure(config):
    config.pluginmanager.register(Places())
"""


async def test_a_hook_that_reads_where_a_test_failed_finds_the_place(tree) -> None:
    root = tree({"conftest.py": PLACES, "test_a.py": "def test_a():\n    pass\n"})
    harness = Harness(python=Path(sys.executable), base=root, seconds=PATIENCE)
    report = await harness.run(whole_tree(root, DEFAULT_LIMITS))
    assert (len(report.tests), report.canaries_ran, report.forged) == (1, True, ())
    assert "10 failures had a place" in report.text


# As plug-ins do that repeat a test.
NOTED = """import pytest

class Notes:
    begun = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.begun.add(item.nodeid)
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        yield
        if item.nodeid not in self.begun:
            raise KeyError(item.nodeid)

def pytest_configure(config):
    config.pluginmanager.register(Notes())
"""


async def test_a_plugin_that_notes_when_a_test_begins_finds_each_canary(tree) -> None:
    files = {"conftest.py": NOTED, "test_a.py": "def test_a():\n    pass\n\ndef test_b():\n    assert 0\n"}
    harness = Harness(python=Path(sys.executable), base=tree(files), seconds=PATIENCE)
    report = await harness.run(whole_tree(harness.base, DEFAULT_LIMITS))
    assert {name: each.outcome for name, each in report.tests.items()} == {
        "test_a.py::test_a": "passed",
        "test_a.py::test_b": "failed",
    }
    assert (report.canaries_ran, report.forged) == (True, ())


async def test_a_plugin_that_fails_on_canaries_only_does_not_fail_the_next_test(tree) -> None:
    failing = NOTED.replace("self.begun.add(item.nodeid)", "self.begun.add('test_a.py::test_a')")
    files = {"conftest.py": failing, "test_a.py": "def test_a():\n    pass\n"}
    harness = Harness(python=Path(sys.executable), base=tree(files), seconds=PATIENCE)
    report = await harness.run(whole_tree(harness.base, DEFAULT_LIMITS))
    assert report.tests["test_a.py::test_a"].outcome == "passed"
    assert report.forged == ()

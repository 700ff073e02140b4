"""A run of some tests makes no rows of others, and finds tests wherever plug-ins collect them."""

import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.pytest_runner.ids import words_of
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.workspaces.files.limits import DEFAULT_LIMITS
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

# Making the rows of a test that is not to be run fails.
ROWS = """import pytest

def pytest_generate_tests(metafunc):
    if metafunc.definition.name == "test_many":
        raise RuntimeError("its rows are made")
"""
TESTS = """import pytest

def test_many(row): pass

@pytest.mark.parametrize("a", [1, 2])
def test_few(a): pass

class TestIt:
    def test_many(self, row): pass
    def test_one(self): pass
"""
# As pytest-describe does.
NESTED = """import pytest

class Works(pytest.Item):
    def runtest(self):
        pass

class Block(pytest.Collector):
    def collect(self):
        yield Works.from_parent(self, name="it_works")

@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    if name.startswith("describe_"):
        return Block.from_parent(collector, name=name)
"""


async def ran(root: Path, *ids: str) -> RunReport:
    harness = Harness(python=Path(sys.executable), base=root, seconds=PATIENCE)
    return await harness.run(whole_tree(root, DEFAULT_LIMITS), ids=ids)


async def test_no_rows_are_made_of_tests_that_are_not_to_be_run(tree) -> None:
    root = tree({"conftest.py": ROWS, "test_a.py": TESTS})
    report = await ran(root, "test_a.py::test_few[2]", "test_a.py::TestIt::test_one")
    assert {name: each.outcome for name, each in report.tests.items()} == {
        "test_a.py::test_few[2]": "passed",
        "test_a.py::TestIt::test_one": "passed",
    }
    report = await ran(root, "test_a.py::test_many")
    assert "its rows are made" in report.errors[0].message


async def test_tests_that_a_plugin_collects_in_a_function_are_found(tree) -> None:
    root = tree(
        {"conftest.py": NESTED, "test_a.py": "def describe_it(): pass\n\ndef describe_more(): pass\n"}
    )
    report = await ran(root, "test_a.py::describe_it::it_works")
    assert list(report.tests) == ["test_a.py::describe_it::it_works"]


async def test_a_directory_may_have_brackets_in_its_name(tree) -> None:
    root = tree({"tests/[id]/test_a.py": "def test_one(): pass\n\ndef test_two(): pass\n"})
    report = await ran(root, "tests/[id]/test_a.py::test_two")
    assert list(report.tests) == ["tests/[id]/test_a.py::test_two"]
    assert function_of("tests/[id]/test_a.py::test_two[1]") == "tests/[id]/test_a.py::test_two"
    assert words_of("tests/[id]/test_a.py::test_two[redis-3]") == {"redis"}

"""Tests that their authors run in parallel are shared among processes, and count as in one run."""

import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.running.sharding import Sharding, sharding_at, whole_of
from app.workspaces.files.limits import DEFAULT_LIMITS
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.testing.gate_support import CODE, run

pytestmark = pytest.mark.anyio

PARALLEL = {"pytest.ini": "[pytest]\naddopts = -n auto\n"}
FILES = {f"tests/test_{name}.py": f"def test_{name}():\n    pass\n" for name in "abcdefgh"}
CALLS = {
    f"tests/test_{name}.py": f"import calc\n\ndef test_{name}():\n    assert calc.add(1, {n}) == {n + 1}\n"
    for n, name in enumerate("abcdefgh")
}
COUNTS = "def test_it(request):\n    assert not request.session.items, len(request.session.items)\n"
TWO = Sharding(2, ("test_*.py",))


async def ran(root: Path, sharding: Sharding | None = TWO) -> RunReport:
    harness = Harness(python=Path(sys.executable), base=root, seconds=PATIENCE, sharding=sharding)
    return await harness.run(whole_tree(root, DEFAULT_LIMITS))


async def test_each_process_runs_its_share(tree) -> None:
    root = tree(dict.fromkeys(FILES, COUNTS))
    report = await ran(root)
    counted = Counter(test.message.partition("AssertionError: ")[2][:1] for test in report.failures)
    assert counted == {"4": 8}
    whole = await ran(root, None)
    assert set(report.ids) == set(whole.ids)
    assert {test.message.partition("AssertionError: ")[2][:1] for test in whole.failures} == {"8"}


async def test_what_is_in_no_test_file_runs_once(tree) -> None:
    conftest = """import pytest
from pathlib import Path

class Item(pytest.Item):
    def runtest(self): pass

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="it")

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".yaml":
        return File.from_parent(parent, path=file_path)
"""
    root = tree({**FILES, "tests/conftest.py": conftest, "tests/case.yaml": ""})
    report = await ran(root)
    assert len(report.ids) == len(report.tests) == 9
    assert report.tests["tests/case.yaml::it"].ok
    assert (report.ending, report.code) == (PytestEnding.COMPLETE, 0)


async def test_few_files_stay_in_one_process(tree) -> None:
    few = dict.fromkeys(list(FILES)[:7], COUNTS)
    report = await ran(tree(few))
    assert {test.message.partition("AssertionError: ")[2][:1] for test in report.failures} == {"7"}


async def test_a_process_that_ends_leaves_the_tests_of_the_others(tree) -> None:
    report = await ran(tree({**FILES, "tests/test_a.py": "import os\n\ndef test_a():\n    os._exit(0)\n"}))
    assert report.ending is PytestEnding.TORN
    assert "tests/test_a.py::test_a" in report.unfinished
    assert len(report.tests) >= 4


@pytest.mark.parametrize(
    ("code", "status", "says"),
    [
        pytest.param({}, "passed", "8 tests passed", id="honest"),
        pytest.param(
            {"calc.py": "def add(a, b):\n    return a + b % 7\n"}, "failed", "1 of 8 tests failed", id="wrong"
        ),
        pytest.param(
            {"calc.py": "import os\n\n\ndef add(a, b):\n    return a + b if b < 7 else os._exit(0)\n"},
            "failed",
            "process ended before pytest could report",
            id="ends the process",
        ),
    ],
)
async def test_the_gate_judges_shared_tests_like_others(
    context, code: Mapping[str, str], status: str, says: str
) -> None:
    base = {**CODE, **CALLS, **PARALLEL}
    result = await run(context, {**base, "more.py": "", **code}, base, processes=2)
    assert result.status == status
    assert says in f"{result.feedback} {result.criteria[0].evidence}"
    assert result.metadata["total_tests"] == 8


@pytest.mark.parametrize(
    ("files", "processes"),
    [
        pytest.param(PARALLEL, 3, id="addopts"),
        pytest.param({"tox.ini": "[testenv]\ncommands = pytest -n 4 tests\n"}, 3, id="tox"),
        pytest.param({"noxfile.py": 'session.run("pytest", "--numprocesses=auto", "tests")\n'}, 3, id="nox"),
        pytest.param({"Makefile": "test:\n\tpytest -nlogical\n"}, 3, id="make"),
        pytest.param(
            {"Makefile": "test:\n\tpytest -n auto --dist=loadgroup\n"}, None, id="groups across files"
        ),
        pytest.param({"Makefile": "test:\n\tpytest -n 0\n"}, None, id="off"),
        pytest.param({"Makefile": "test:\n\tpytest -n 1\n"}, None, id="one"),
        pytest.param({"Makefile": "test:\n\tpytest -q tests\n"}, None, id="not in parallel"),
        pytest.param(
            {"Makefile": "test:\n\thead -n 5 x && pytest\n"}, None, id="an option of another program"
        ),
    ],
)
def test_only_what_authors_run_in_parallel_is_shared(tree, files, processes: int | None) -> None:
    found = sharding_at(tree({**FILES, **files}), 3)
    assert (found.processes if found else None) == processes
    assert sharding_at(tree({**FILES, **files}), 1) is None


def test_a_system_that_tells_no_cores_of_a_process_has_all_of_them(tree, monkeypatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    found = sharding_at(tree({**FILES, **PARALLEL}), None)
    assert found is not None
    assert found.processes == 3


def test_shards_hold_about_as_much_text(tmp_path: Path) -> None:
    sizes = {"test_a.py": 90, "test_b.py": 50, "test_c.py": 40, **{f"test_{n}.py": 1 for n in range(5)}}
    for name, size in sizes.items():
        (tmp_path / name).write_text("#" * size)
    first, second = TWO.shards_of(RunTree(dict.fromkeys(sizes, tmp_path)))
    assert second.only is not None
    assert first.elsewhere == second.only
    assert abs(sum(sizes[name] for name in second.only) - 92) <= 2
    chosen = RunTree(dict.fromkeys(sizes, tmp_path), only=frozenset(["test_a.py"]))
    assert TWO.shards_of(chosen) == [chosen]


def report(*names: str, code: int = 0, **others) -> RunReport:
    tests = {name: RanTest(name, Outcome.FAILED if code == 1 else Outcome.PASSED, 0.1, "") for name in names}
    places = {name: place for place, name in enumerate(names)}
    return RunReport(PytestEnding.COMPLETE, code, names, places, tests, seconds=2.0, **others)


def test_one_report_tells_what_those_of_all_processes_tell() -> None:
    joined = whole_of(
        [report("a", "b", forged=("x",)), report("c", code=1, canaries_ran=False), report(code=5)]
    )
    assert (joined.code, joined.seconds, joined.canaries_ran, joined.forged) == (1, 6.0, False, ("x",))
    assert joined.as_collected == ("a", "b", "c")
    assert [each.id for each in joined.failures] == ["c"]
    assert whole_of([report("a"), report(code=5)]).code == 0
    assert whole_of([report(code=5), report(code=5)]).code == 5
    late = RunReport(PytestEnding.TIMED_OUT, None, ("d",), seconds=9.0)
    assert (whole_of([report("a"), late]).ending, whole_of([report("a"), late]).seconds) == (late.ending, 9.0)

"""The baseline: what the base's tests do before anything is done, and how the gate uses it."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.runners.evaluators.registry import create_default_registry
from app.runners.evaluators.testing.at_base.baseline import baseline_of
from app.runners.evaluators.testing.at_base.remembered import Remembered
from app.runners.evaluators.testing.baselines import baseline_at, comparing_gate, no_recall
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.schemas.baseline import Baseline, BaselineSummary, RedTest
from app.workspaces.environments.outcome import Ready
from tests.patience import PATIENCE

GATE = PytestEvaluator(timeout=PATIENCE, outside=False)
CODE = "def add(a, b):\n    return a + b\n"
TESTS = """
import pytest
from calc import add

def test_add():
    assert add(1, 2) == 3

def test_red():
    assert add(1, 2) == 4

@pytest.mark.skip(reason="later")
def test_skipped():
    assert add(0, 0) == 1
"""
BASE = {"calc.py": CODE, "test_calc.py": TESTS, "test_other.py": "import teapot_not_there\n"}


def run(problems: tuple[str, ...] = (), **outcomes: str) -> RunReport:
    """A complete run; `passed`, `failed` and so on by the name of the test."""
    tests = {
        f"test_a.py::{name}": RanTest(
            f"test_a.py::{name}",
            Outcome(value),
            0.1,
            "test_a.py:3: assert 0x1f" if value == "failed" else "",
            ("test_a.py",) if value == "failed" else (),
        )
        for name, value in outcomes.items()
    }
    errors = tuple(CollectProblem(each, skipped=False, message="no module") for each in problems)
    return RunReport(PytestEnding.COMPLETE, code=0, ids=tuple(tests), tests=tests, problems=errors)


def test_tests_are_sorted_by_all_their_runs() -> None:
    first = run(
        ("test_b.py",), good="passed", red="failed", flaky="failed", idle="skipped", expected="xfailed"
    )
    second = run(
        ("test_b.py",), good="passed", red="error", flaky="passed", idle="skipped", expected="xfailed"
    )
    found = baseline_of([first, second, run(flaky="failed"), run(flaky="passed")], "key", 60.0)
    assert found.passing == ["test_a.py::good"]
    assert found.skipped == ["test_a.py::idle", "test_a.py::expected"]
    assert [(each.id, each.signature) for each in found.red] == [
        ("test_a.py::red", "test_a.py:<n>: assert <address>")
    ]
    assert [(each.failed, each.runs, each.message[:9]) for each in found.flaky] == [(2, 4, "test_a.py")]
    assert [each.id for each in found.unreadable] == ["test_b.py"]
    assert found.whole
    assert found.in_words() == (
        "1 test is red at the base; 1 test file cannot be read; 1 is flaky; 1 of 5 pass at the base."
    )


def test_a_red_test_whose_words_differ_from_run_to_run_is_known_as_such() -> None:
    runs = [run(red="failed", same="failed"), run(red="failed", same="failed")]
    tests = dict(runs[1].tests)
    tests["test_a.py::red"] = replace(tests["test_a.py::red"], message="test_a.py:3: assert 7 == 8")
    known = Remembered(baseline_of([runs[0], replace(runs[1], tests=tests)], "key", 60.0))
    assert known.varying == {"test_a.py::red"}


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(run(good="passed"), id="a test is gone"),
        pytest.param(run(good="passed", red="failed", new="passed"), id="a test is new"),
        pytest.param(run(("test_b.py",), good="passed", red="failed"), id="a file cannot be read any more"),
        pytest.param(
            replace(run(good="passed", red="failed"), ids=("test_a.py::good", "test_a.py::red", "x")),
            id="a test did not run",
        ),
    ],
)
def test_a_baseline_whose_runs_had_other_tests_replaces_no_run(second: RunReport) -> None:
    assert not baseline_of([run(good="passed", red="failed"), second], "key", 60.0).whole


def test_a_summary_names_the_first_tests_and_counts_all() -> None:
    failing = {f"t{number}": "failed" for number in range(60)}
    summary = BaselineSummary.of(baseline_of([run(**failing), run(**failing)], "key", 60.0))
    assert (summary.red, len(summary.red_tests), summary.passing) == (60, 50, 0)
    assert summary.note.startswith("60 tests are red at the base")


def test_what_is_remembered_reads_as_a_run() -> None:
    first = run(("test_b.py",), good="passed", red="failed", flaky="failed")
    second = run(("test_b.py",), good="passed", red="failed", flaky="passed")
    known = Remembered(baseline_of([first, second], "key", 60.0))
    assert known.knows(["test_a.py::good", "test_b.py::anything"])
    assert not known.knows(["test_a.py::unknown"])
    report = known.report({"test_a.py"}, ["test_a.py::red"])
    assert (report.ending, list(report.tests), report.code) == (PytestEnding.COMPLETE, ["test_a.py::red"], 1)
    assert report.failures[0].files == ("test_a.py",)
    assert known.report().tests["test_a.py::flaky"].ok
    assert known.report(flaky=Outcome.FAILED).tests["test_a.py::flaky"].bad
    assert [each.id for each in known.report({"test_b.py"}).errors] == ["test_b.py"]


@pytest.mark.anyio
async def test_the_bases_tests_run_on_the_bases_own_code(tree) -> None:
    found = await baseline_at(GATE, tree(BASE))
    assert found is not None
    assert not found.reused
    base = found.baseline
    assert base.trouble == ""
    assert (base.passing, base.skipped) == (["test_calc.py::test_add"], ["test_calc.py::test_skipped"])
    assert [each.id for each in base.red] == ["test_calc.py::test_red"]
    assert "3 == 4" in base.red[0].message
    assert [each.id for each in base.unreadable] == ["test_other.py"]
    assert "teapot_not_there" in base.unreadable[0].message
    assert base.whole


@pytest.mark.anyio
async def test_a_known_baseline_is_not_measured_again(tree) -> None:
    asked: list[str] = []

    async def recall(key: str) -> Baseline:
        asked.append(key)
        return Baseline(key=key, passing=["known"], whole=True)

    one, same, other = tree(BASE), tree(BASE), tree({**BASE, "calc.py": CODE + "X = 1\n"})
    for each in (one, same, other):
        found = await baseline_at(GATE, each, recall)
        assert found is not None
        assert found.reused
        assert found.baseline.passing == ["known"]
    assert asked[0] == asked[1] != asked[2], "the content counts, not the place"


@pytest.mark.anyio
async def test_a_base_whose_tests_do_not_end_is_waited_for_once(context) -> None:
    endless = {"calc.py": CODE, "test_calc.py": "import time\n\ndef test_sleeps():\n    time.sleep(600)\n"}
    made = context({**endless, "calc.py": CODE + "X = 1\n"}, endless)
    gate = PytestEvaluator(timeout=2.0, outside=False)
    found = await baseline_at(gate, Path(str(made.get("base_ref"))))
    assert found is not None
    base = found.baseline
    assert base.waits_for == "test_calc.py::test_sleeps"
    assert re.search(r"do not end within \d+ seconds; they wait for test_calc.py::test_sleeps", base.trouble)
    assert (base.whole, base.red) == (False, [])
    judged = await gate.evaluate("coding", "", {**made, "baseline": base, "limits": {"seconds": 2.0}})
    assert judged.status == "errored"
    assert judged.feedback.startswith("In the base, the tests do not end within")


@pytest.mark.anyio
async def test_a_test_that_does_not_end_is_waited_for_once_and_red(context) -> None:
    base = {
        "calc.py": CODE,
        "test_calc.py": "import time\n\nfrom calc import add\n\n\n"
        "def test_sleeps():\n    time.sleep(600)\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    }
    made = context({**base, "calc.py": CODE + "X = 1\n"}, base)
    gate = PytestEvaluator(timeout=4.0, outside=False)
    found = await baseline_at(gate, Path(str(made.get("base_ref"))))
    assert found is not None
    known = found.baseline
    assert known.passing == ["test_calc.py::test_add"]
    assert [each.id for each in known.red] == ["test_calc.py::test_sleeps"]
    assert (known.whole, known.waits_for, known.trouble) == (True, "test_calc.py::test_sleeps", "")
    judged = await gate.evaluate("coding", "", {**made, "goal": "Say more", "baseline": known})
    assert [each.kind for each in judged.questions] == ["red_at_base"], judged.feedback
    assert "does not end within 4 seconds in the base either" in judged.questions[0].text


@pytest.mark.anyio
async def test_a_base_without_tests_or_environment_has_no_baseline(tree, tmp_path) -> None:
    assert await baseline_at(GATE, tree({"calc.py": CODE})) is None
    assert await baseline_at(GATE, tree({})) is None
    missing = replace(GATE, python=tmp_path / "no-python")
    found = await baseline_at(missing, tree(BASE), no_recall)
    assert found is not None
    assert "cannot be started" in found.baseline.trouble
    assert not found.baseline.whole


@pytest.mark.anyio
async def test_the_gate_takes_the_baselines_word_for_the_same_base_only(context) -> None:
    """The baseline says another thing than the base does, so what counts can be seen."""
    base = {
        "calc.py": CODE,
        "test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    }
    base["test_calc.py"] += "\ndef test_two():\n    assert add(1, 1) == 2\n"
    broken = {**base, "calc.py": "def add(a, b):\n    return 2\n"}
    made = {**context(broken, base), "goal": "Say more in the documentation"}
    here = await GATE.evaluate("coding", "", made)
    assert here.metadata["failing_at_base"] == []
    message = "test_calc.py:4: assert 2 == 3\n +  where 2 = add(1, 2)"
    key = await GATE.key_of(Path(made["base_ref"]), Ready(Path(sys.executable)))
    known = Baseline(
        key=key,
        passing=["test_calc.py::test_two"],
        red=[RedTest(id="test_calc.py::test_add", message=message, signature=message)],
        whole=True,
    )
    there = await GATE.evaluate("coding", "", {**made, "baseline": known})
    assert there.metadata["failing_at_base"] == ["test_calc.py::test_add"]
    other = await GATE.evaluate("coding", "", {**made, "baseline": known.model_copy(update={"key": "other"})})
    assert other.metadata["failing_at_base"] == []


def test_the_gate_that_compares_with_the_base_is_found() -> None:
    registry = create_default_registry()
    assert isinstance(comparing_gate(registry, ["discovery", "coding"]), PytestEvaluator)
    assert comparing_gate(registry, ["discovery"]) is None
    assert comparing_gate(registry.without(["pytest"]), ["coding"]) is None

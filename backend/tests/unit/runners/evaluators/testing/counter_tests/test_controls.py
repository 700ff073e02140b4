"""A finding that only the base's own code supports is repeated, because tests may draw their data."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from app.runners.evaluators.testing.counter_tests import controls
from app.runners.evaluators.testing.counter_tests.comparing import CounterTestOutcome, CounterTestResult
from app.runners.evaluators.testing.counter_tests.controls import BaseControl
from app.runners.evaluators.testing.counter_tests.drawing import draw, units_of
from app.runners.evaluators.testing.counter_tests.pairs import Pair
from app.runners.evaluators.testing.counter_tests.reading import read_test_file
from app.runners.evaluators.testing.counter_tests.versions import Version
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.run import Harness

pytestmark = pytest.mark.anyio

TEST = "test_x.py::test_x"
HERE, BASE = RunTree({"here.py": Path()}), RunTree({"base.py": Path()})
UNNOTICED, NOTICED = CounterTestOutcome.UNNOTICED, CounterTestOutcome.NOTICED


def result(assertion: str, answer: CounterTestOutcome) -> CounterTestResult:
    file = read_test_file("test_x.py", f"def test_x():\n    {assertion}\n".encode())
    assert file is not None
    return CounterTestResult(TEST, draw(units_of([file], [TEST])[0], Random(1), [TEST], {})[0], answer)


@pytest.mark.parametrize(
    ("assertion", "here", "at_base", "kept", "runs"),
    [
        pytest.param("assert f() == 1", "", "", True, 0, id="certain"),
        pytest.param("assert f() == P(1)", "uuu", "nnn", True, 6, id="steady"),
        pytest.param("assert f() == P(1)", "un", "n", False, 3, id="noticed at last"),
        pytest.param("assert f() == P(1)", "u", "u", False, 2, id="unnoticed at the base"),
        pytest.param("assert f() == P(1)", "uu", "nu", False, 4, id="unnoticed at the base once"),
    ],
)
async def test_a_finding_that_chance_explains_is_dropped(
    monkeypatch, assertion: str, here: str, at_base: str, kept: bool, runs: int
) -> None:
    found = result(assertion, UNNOTICED)
    said: dict[str, Iterator[str]] = {"here.py": iter(here), "base.py": iter(at_base)}
    ran: list[str] = []

    async def run_both(harness, tree, versions, functions=None):
        ran.extend(tree.files)
        return next(iter(tree.files))

    def answers_of(versions, name):
        answer = UNNOTICED if next(said[name]) == "u" else NOTICED
        return {TEST: result(assertion, answer)}

    monkeypatch.setattr(controls, "run_both", run_both)
    monkeypatch.setattr(controls, "answers_of", answers_of)
    harness = Harness(python=Path("python"), base=None, seconds=1)
    pair = Pair((Version((), {"test_x.py": b""}), Version((), {"test_x.py": b""})), {TEST: found})
    control = BaseControl(harness, BASE, lambda _: False)
    steady = await control.steady({TEST: found}, pair, harness, HERE)
    assert (steady == {TEST: found}) is kept
    assert len(ran) == runs

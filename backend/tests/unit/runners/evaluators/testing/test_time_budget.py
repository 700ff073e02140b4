"""A run leaves out tests only when it has seen that the others of their file do not fit."""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_runner.time_budget import TimeBudget


class Suite:
    """Runs tests that take given seconds of a clock that stands still otherwise."""

    def __init__(self, tests: Mapping[str, float], kind: str = "_pytest.python") -> None:
        self.now = 0.0
        self.passing = False
        self.foreseen: list[int] = []
        """After how many tests a shortage is foreseen."""
        self.working = 0.0
        """The share of its time that a test works, and does not wait."""
        self.took = tests
        item: Any = type("Item", (SimpleNamespace,), {"__module__": kind, "__hash__": object.__hash__})
        self.session: Any = SimpleNamespace(items=[])
        self.session.items += [item(nodeid=name, session=self.session) for name in tests]

    def run(
        self, limit: float | None, seconds: float = 3600.0, started: float = 0.0
    ) -> tuple[list[str], list[str]]:
        """Give the tests that ran, and those left out, in a process that started some seconds ago."""
        ends_at = time.monotonic() + seconds - started
        budget = TimeBudget(limit, seconds, ends_at, lambda: self.now, lambda: self.now * self.working)
        ran: list[str] = []
        out: list[str] = []
        for item in self.session.items:
            began = budget.begin(item)
            with nullcontext() if "prepares" in item.nodeid else budget.calling():
                self.now += self.took[item.nodeid]
            ran.append(item.nodeid)
            out += budget.end(item, began, passed=self.passing)
            if budget.foresees_shortage(self.session):
                self.foreseen.append(len(ran))
        return ran, out


def rows(file: str, count: int, seconds: float) -> dict[str, float]:
    return {f"{file}::test[{number}]": seconds for number in range(count)}


@pytest.mark.parametrize(
    ("tests", "limit", "out"),
    [
        pytest.param(rows("a.py", 10, 9), 100, 0, id="all fit"),
        pytest.param(rows("a.py", 10, 20), None, 0, id="no limit"),
        pytest.param(rows("a.py", 100, 10), 100, 98, id="one file does not fit"),
        pytest.param(rows("a.py", 100, 10) | rows("b.py", 5, 1), 100, 98, id="the next file fits"),
        pytest.param(rows("a.py", 100, 10) | rows("b.py", 50, 9), 100, 98 + 48, id="nor does the next"),
        pytest.param({"a.py::prepares": 60} | rows("a.py", 90, 0.1), 100, 0, id="the first one prepares"),
        pytest.param(
            rows("a.py", 100, 10) | {"b.py::slow": 5} | rows("b.py", 50, 0.1),
            100,
            98,
            id="one long test later",
        ),
        pytest.param(rows("a.py", 20, 50), 100, 19, id="one test tells enough"),
        pytest.param({"a.py::slow": 30} | rows("a.py", 20, 0.1), 100, 0, id="one test tells too little"),
        pytest.param(rows("a.py", 50, 1) | rows("b.py", 45, 1), 100, 0, id="two files fit"),
    ],
)
def test_what_does_not_fit_is_left_out(tests: dict[str, float], limit: float | None, out: int) -> None:
    ran, left_out = Suite(tests).run(limit)
    assert len(left_out) == out
    assert sorted([*ran, *left_out]) == sorted(tests)


def test_only_the_slow_kind_is_left_out_in_all_files() -> None:
    tests = {
        f"{file}::test[{number}-{kind}]": 20.0 if kind == "mongo" else 0.1
        for file in ("a.py", "b.py")
        for number in range(20)
        for kind in ("memory", "mongo")
    }
    ran, out = Suite(tests).run(100)
    assert all("mongo" in each for each in out)
    assert len([each for each in ran if "memory" in each]) == 40
    assert len(out) >= 35


def test_the_files_of_a_plug_in_are_taken_together() -> None:
    tests = {f"{letter}.py::check": 10.0 for letter in "abcdefghijklmnop"}
    assert len(Suite(tests, kind="some_plugin").run(100)[1]) == 14
    assert not Suite(tests | {"q.py::check": 10.0}).run(100)[1]


def test_nothing_more_begins_shortly_before_the_process_is_ended() -> None:
    tests = rows("a.py", 3, 0.1) | rows("b.py", 3, 0.1)
    only_the_first = (["a.py::test[0]"], list(tests)[1:])
    assert Suite(tests).run(100, seconds=0.0) == only_the_first
    assert Suite(tests).run(None, seconds=0.0)[1] == []
    # Python and pytest have started slowly.
    assert Suite(tests).run(100, started=3300.0) == only_the_first
    assert Suite(tests).run(100, started=1000.0)[1] == []


@pytest.mark.parametrize(
    ("working", "out"), [(0.0, 98), (0.5, 97), (1.0, 0)], ids=["waits", "does both", "works"]
)
def test_time_at_work_is_not_spent_waiting(working: float, out: int) -> None:
    suite = Suite(rows("a.py", 100, 10))
    suite.working = working
    assert len(suite.run(100)[1]) == out


def test_tests_that_wait_and_pass_need_only_the_time_of_the_run() -> None:
    suite = Suite(rows("a.py", 100, 10))
    suite.passing = True
    assert suite.run(100)[1] == []
    assert len(suite.run(100, seconds=1_000.0)[1]) == 88


def test_work_that_does_not_fit_in_the_whole_run_is_left_out() -> None:
    suite = Suite(rows("a.py", 100, 50))
    suite.working = 1.0
    assert len(suite.run(100, seconds=2_000.0)[1]) == 95


def test_a_shortage_is_foreseen_once_after_a_quarter_of_the_run() -> None:
    suite = Suite(rows("a.py", 30, 10) | rows("b.py", 30, 10) | rows("c.py", 200, 10))
    suite.passing = True
    assert suite.run(100, seconds=1_000.0)[1]
    assert suite.foreseen == [23]


def test_no_shortage_is_foreseen_for_tests_that_may_fit() -> None:
    suite = Suite(rows("a.py", 60, 10) | rows("b.py", 20, 10))
    suite.passing = True
    suite.run(100, seconds=1_000.0)
    assert suite.foreseen == []


def test_tests_that_travel_in_time_leave_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries change what the clock's function does, also for those that hold it already."""
    honest, travelled = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: honest() + travelled[0])
    budget = TimeBudget(100.0, 3600.0, time.monotonic() + 3600.0)
    suite = Suite(rows("a.py", 3, 0))
    travelled[0] = 1e9
    item = suite.session.items[0]
    assert budget.end(item, budget.begin(item)) == []

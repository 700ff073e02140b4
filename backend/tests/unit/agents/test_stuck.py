"""Agents that go round in circles are noticed, and others are not."""

import pytest

from app.agents.stuck import CallCounter, ChangeClock

LS, CAT, EDIT = ("bash", "ls", "a.py"), ("bash", "cat a.py", "x = 1"), ("edit", "a.py", "written")


@pytest.mark.parametrize(
    ("limit", "calls", "told"),
    [
        pytest.param(3, [LS] * 3, "it called bash (ls) 3 times in a row with the same result", id="the same"),
        pytest.param(3, [LS] * 2, None, id="the same, less often"),
        pytest.param(
            2,
            [("bash", "ls", f"a.py\nProcess Group PGID: {number}") for number in (64, 74)],
            "it called bash (ls) 2 times in a row with the same result",
            id="the same but for a process number",
        ),
        pytest.param(3, [LS, LS, CAT, LS, LS], None, id="another call between"),
        pytest.param(3, [LS, LS, ("bash", "ls", "b.py")], None, id="another result"),
        pytest.param(
            2,
            [LS, CAT, LS, CAT],
            "it called bash (ls) and bash (cat a.py) in turn 2 times with the same results",
            id="two in turn",
        ),
        pytest.param(2, [EDIT, LS, CAT, EDIT], None, id="three in turn"),
        pytest.param(None, [LS] * 100, None, id="switched off"),
        pytest.param(
            2, [("bash", "", "")] * 2, "it called bash 2 times in a row with the same result", id="empty"
        ),
    ],
)
def test_calls(limit: int | None, calls: list[tuple[str, str, str]], told: str | None) -> None:
    counter, found = CallCounter(limit), None
    for tool, arguments, result in calls:
        counter.call(tool, arguments)
        found = counter.result(tool, result) or found
    assert found == told


def test_results_belong_to_calls_in_their_order() -> None:
    counter = CallCounter(2)
    counter.call("bash", "one")
    counter.call("bash", "two")
    assert counter.result("bash", "same") is None
    assert counter.result("bash", "same") is None
    assert counter.result("read", "without a call") is None


ONE, OTHER = [("a.py", 1, 1)], [("a.py", 1, 2)]


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        pytest.param(
            [(0, ONE, 1), (10, ONE, 4)], "it changed no file for 10 s and made 4 model requests", id="still"
        ),
        pytest.param([(0, ONE, 1), (9, ONE, 4)], None, id="not yet"),
        pytest.param([(0, ONE, 1), (9, OTHER, 4), (18, OTHER, 4)], None, id="a change between"),
        pytest.param([(0, ONE, 1), (50, ONE, 0)], None, id="no request: that is silence"),
    ],
)
def test_changes(looks: list[tuple[float, list[tuple[str, int, int]], int]], told: str | None) -> None:
    clock, found = ChangeClock(10.0, 0.0), None
    for now, files, requests in looks:
        found = clock.look(files, requests, now) or found
    assert found == told


def test_without_a_limit_nothing_is_measured() -> None:
    clock = ChangeClock(None, 0.0)
    clock.look(ONE, 1, 0.0)
    assert clock.look(ONE, 1, 1e9) is None

"""When a run away from the code ends, and a test in it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_outside import pace as module
from app.runners.evaluators.testing.pytest_outside.further_calls import NotingPeer
from app.runners.evaluators.testing.pytest_outside.link import UncarriedError
from app.runners.evaluators.testing.pytest_outside.pace import LATE, PATIENCE, JudgePace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    return clock


def test_a_test_may_go_on_for_a_while_after_the_end_of_the_run(clock: Clock, tmp_path: Path) -> None:
    pace = JudgePace(60.0, tmp_path / "stop")
    clock.now += 59
    assert not pace.is_over()
    assert not pace.is_late()
    clock.now += 2
    assert pace.is_over()
    assert not pace.is_late()
    clock.now += PATIENCE
    assert not pace.is_late()
    clock.now += 1
    assert pace.is_late()


def test_a_stopped_run_is_late_as_well(clock: Clock, tmp_path: Path) -> None:
    pace = JudgePace(600.0, tmp_path / "stop")
    clock.now += 1
    assert not pace.is_late()
    (tmp_path / "stop").touch()
    clock.now += 1
    assert not pace.is_late()
    clock.now += PATIENCE + 1
    assert pace.is_late()


def test_a_late_test_asks_nothing_more() -> None:
    notes: list[str] = []
    side: Any = SimpleNamespace(note=lambda reason, hard: notes.append(reason) if hard else None)
    late: Any = SimpleNamespace(is_late=lambda: True)
    wire: Any = None
    peer = NotingPeer(wire, 0, side, late)
    with pytest.raises(UncarriedError, match=LATE):
        peer.request("get", object(), "name")
    assert notes == [peer.broken] == [LATE]

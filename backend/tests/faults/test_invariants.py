"""The checkers themselves: what is right passes, and each kind of wrong is found."""

import pytest

from harness.invariants import Told, event_violations

GOOD = [
    ("run.created", None, None),
    ("workflow.started", None, None),
    ("attempt.started", "coding", 1),
    ("attempt.interrupted", "coding", 1),
    ("attempt.started", "coding", 1),
    ("attempt.produced", "coding", 1),
    ("evaluation.started", "coding", 1),
    ("evaluation.started", "coding", 1),
    ("evaluation.completed", "coding", 1),
    ("phase.completed", "coding", 1),
    ("workflow.completed", None, None),
]
Event = tuple[str, str | None, int | None]


def told(events: list[Event]) -> list[Told]:
    return [Told(number, *each) for number, each in enumerate(events, 1)]


def test_a_run_that_was_interrupted_is_good() -> None:
    assert event_violations(told([*GOOD])) == []


BAD: dict[str, tuple[list[Told], str]] = {
    "a gap": ([each for each in told([*GOOD]) if each.sequence != 4], "gaps or doubles"),
    "a double": (told([*GOOD])[:4] + told([*GOOD])[3:], "gaps or doubles"),
    "produced twice": (told([*GOOD[:6], GOOD[5], *GOOD[6:]]), "attempt.produced coding 1 was told 2 times"),
    "ran again": (
        told([*GOOD[:6], GOOD[4], *GOOD[6:]]),
        "attempt.started of ('coding', 1) was told after attempt.produced",
    ),
    "judged again": (
        told([*GOOD[:9], GOOD[7], *GOOD[9:]]),
        "evaluation.started of ('coding', 1) was told after evaluation.completed",
    ),
    "after the end": (told([*GOOD, ("agent.progress", "coding", 1)]), "after the end"),
    "two ends": (told([*GOOD, GOOD[-1]]), "workflow.completed was told 2 times"),
    "produced without a start": (told([*GOOD[:2], *GOOD[5:]]), "told without attempt.started"),
}


@pytest.mark.parametrize(("events", "reason"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_found(events: list[Told], reason: str) -> None:
    assert any(reason in each for each in event_violations(events))

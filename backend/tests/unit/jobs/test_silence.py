"""Who is dead, by what a sweep has seen."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jobs.silence import Pulse, Silence, SilenceRules

RULES = SilenceRules(confirm=3.0, dead=6.0, away=6.0)
START = datetime(2026, 1, 1, tzinfo=UTC)
Look = tuple[float, dict[int, tuple[int, bool]]]
"""The own clock, and what was seen: for each worker its heartbeat's second, and whether that is overdue."""

CASES: dict[str, tuple[list[Look], set[int]]] = {
    "a living worker": ([(0, {1: (0, False)}), (2, {1: (2, False)}), (4, {1: (4, False)})], set()),
    "overdue, but seen only once": ([(0, {1: (0, True)})], set()),
    "overdue and unchanged, not yet confirmed": ([(0, {1: (0, True)}), (2, {1: (0, True)})], set()),
    "overdue and unchanged for long enough": (
        [(0, {1: (0, False)}), (2, {1: (0, False)}), (4, {1: (0, True)})],
        {1},
    ),
    # The database's clock was set back: the dead worker's heartbeat lies in the future and is never overdue.
    "unchanged, by a clock that was set back": (
        [(at, {1: (9999, False)}) for at in (0, 2, 4, 6)],
        {1},
    ),
    # It was set forward: everybody is overdue at once, but those who live write again.
    "overdue, by a clock that was set forward": (
        [(0, {1: (0, False)}), (2, {1: (3602, True)}), (4, {1: (3604, False)})],
        set(),
    ),
    # Nobody could write during an outage, in which nobody could look either.
    "overdue after an outage": ([(0, {1: (0, False)}), (60, {1: (0, True)})], set()),
    "overdue after an outage, and still silent": (
        [(0, {1: (0, False)}), (60, {1: (0, True)}), (62, {1: (0, True)}), (64, {1: (0, True)})],
        {1},
    ),
    "one of two": (
        [(at, {1: (0, True), 2: (at, False)}) for at in (0, 2, 4)],
        {1},
    ),
}


def look(looks: list[Look]) -> frozenset[int]:
    silence, dead = Silence(RULES), frozenset[int]()
    for now, seen in looks:
        pulses = [
            Pulse(number, START + timedelta(seconds=at), overdue) for number, (at, overdue) in seen.items()
        ]
        dead = silence.dead(pulses, now)
    return dead


@pytest.mark.parametrize(("looks", "dead"), CASES.values(), ids=CASES.keys())
def test_who_is_dead(looks: list[Look], dead: set[int]) -> None:
    assert look(looks) == dead


@given(
    steps=st.lists(
        st.tuples(st.floats(0.1, 100.0), st.booleans()),
        max_size=50,
    )
)
def test_a_worker_that_writes_between_any_two_looks_never_dies(steps: list[tuple[float, bool]]) -> None:
    now, looks = 0.0, list[Look]()
    for number, (pause, overdue) in enumerate(steps):
        now += pause
        looks.append((now, {1: (number, overdue)}))
    assert look(looks) == frozenset()


@given(period=st.floats(0.1, 5.9), overdue=st.booleans())
def test_a_dead_worker_is_found_in_time(period: float, overdue: bool) -> None:
    looks = [(at * period, {1: (0, overdue)}) for at in range(int(RULES.dead / period) + 2)]
    assert look(looks) == {1}

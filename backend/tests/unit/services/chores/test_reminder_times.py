"""When humans are reminded: a table, and what holds for any schedule."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services.chores.reminder_times import reminders_until

ASKED = datetime(2026, 1, 1, tzinfo=UTC)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


TABLE = {
    "just asked": (0, 0, 24),
    "not yet": (23.9, 0, 24),
    "the first": (24, 1, 72),
    "between": (50, 1, 72),
    "the second": (72, 2, 144),
    "the last one repeats": (144, 3, 216),
    "after a week away": (24 * 10, 4, 288),
}


@pytest.mark.parametrize(("waited", "passed", "then"), TABLE.values(), ids=TABLE.keys())
def test_a_day_and_three_days(waited: float, passed: int, then: float) -> None:
    due = reminders_until(ASKED + hours(waited), ASKED, [24.0, 72.0])
    assert (due.passed, due.next_at) == (passed, ASKED + hours(then))


schedules = st.lists(st.integers(1, 1000), min_size=1, max_size=5, unique=True).map(sorted)


@given(schedules, st.integers(0, 10_000))
def test_the_next_one_is_later_and_is_one_more(schedule: list[int], waited: int) -> None:
    now = ASKED + hours(waited)
    due = reminders_until(now, ASKED, schedule)
    assert due.next_at > now
    assert reminders_until(due.next_at, ASKED, schedule).passed == due.passed + 1

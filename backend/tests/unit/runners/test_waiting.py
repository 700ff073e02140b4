"""How long a run waits for a model that is unavailable."""

from datetime import UTC, datetime, timedelta

import pytest

from app.runners.waiting import FailuresInARow, rest_after, waited_enough, waits_words
from app.schemas.runs import RunPolicy

NOW = datetime(2026, 5, 1, 14, 0, tzinfo=UTC)
POLICY = RunPolicy(retry_base_seconds=2.0, max_reset_wait_seconds=3600.0)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("failures", "pause"), [(0, 2.0), (1, 4.0), (4, 32.0), (5, 60.0), (98, 60.0)], ids=str
)
def test_without_a_time_the_pause_doubles_up_to_a_minute(failures: int, pause: float) -> None:
    rest = rest_after(FailuresInARow(failures, NOW), None, POLICY, NOW)
    assert (rest.until, rest.reset_at) == (after(pause), None)
    assert rest.counted == FailuresInARow(failures + 1, NOW)


@pytest.mark.parametrize("reset", [after(0), after(-5)], ids=["now", "past"])
def test_a_time_that_is_over_counts_as_none(reset: datetime) -> None:
    assert rest_after(FailuresInARow(), reset, POLICY, NOW).reset_at is None


def test_a_limit_is_waited_for_to_its_end() -> None:
    rest = rest_after(FailuresInARow(2, after(-500)), after(300), POLICY, NOW)
    assert (rest.until, rest.reset_at) == (after(300), after(300))
    assert rest.counted == FailuresInARow(3, None), "the minutes before it do not count"


def test_a_short_limit_does_not_begin_the_minutes_anew() -> None:
    rest = rest_after(FailuresInARow(2, after(-500)), after(5), POLICY, NOW)
    assert rest.counted == FailuresInARow(3, after(-500))


def test_a_limit_that_ends_too_late_asks_a_human() -> None:
    rest = rest_after(FailuresInARow(), after(3601), POLICY, NOW)
    assert (rest.until, rest.reset_at) == (None, after(3601))


@pytest.mark.parametrize(
    ("before", "reset", "over"),
    [
        pytest.param(FailuresInARow(3, after(-600)), None, True, id="often and long enough"),
        pytest.param(FailuresInARow(3, after(-599)), None, False, id="not long enough"),
        pytest.param(FailuresInARow(2, after(-600)), None, False, id="not often enough"),
        pytest.param(FailuresInARow(3, after(-600)), after(300), False, id="the provider says when"),
        pytest.param(FailuresInARow(3, after(-600)), after(5), True, id="it says so again and again"),
        pytest.param(FailuresInARow(99, None), after(300), True, id="a hundred times"),
    ],
)
def test_a_human_is_asked_instead_of_naming_a_next_try(
    before: FailuresInARow, reset: datetime | None, over: bool
) -> None:
    rest = rest_after(before, reset, POLICY, NOW)
    assert (rest.until is None) == over
    assert waited_enough(rest.counted, POLICY, NOW) == over


def test_the_words_name_another_day() -> None:
    assert waits_words(after(300), NOW) == "waits for the provider until 14:05 UTC"
    assert waits_words(after(86_400), NOW) == "waits for the provider until 2026-05-02 14:00 UTC"

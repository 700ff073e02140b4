import pytest

from teatime.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("2m", 120), ("3m30s", 210), ("3m 30s", 210), ("0s", 0)],
)
def test_reads_minutes_and_seconds(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(("text", "seconds"), [("12h", 43_200), ("1h30m", 5_400), ("1h 0m 5s", 3_605)])
def test_reads_hours(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "3", "3x", "3m and a bit", "30s 3m"])
def test_rejects_other_texts(text):
    with pytest.raises(ValueError, match="duration") as refusal:
        parse_duration(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (90, "1m30s"), (43_200, "12h")])
def test_writes_what_people_write(seconds, text):
    assert format_duration(seconds) == text

"""Computes when to remind people of open escalations. Pure: the clock is an argument."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Reminders:
    """How many reminders are due by a moment, and when the next one is due."""

    passed: int
    next_at: datetime


def reminders_until(now: datetime, asked_at: datetime, hours: Sequence[float]) -> Reminders:
    """Count the reminders of an escalation that was raised at `asked_at`.

    Args:
        now: the moment of the count.
        asked_at: when the person was asked.
        hours: when to remind, in hours after `asked_at`; ascending, not empty. Multiples of the last follow.
    """
    waited = (now - asked_at) / timedelta(hours=1)
    passed = sum(each <= waited for each in hours)
    last = hours[-1]
    if passed < len(hours):
        return Reminders(passed, asked_at + timedelta(hours=hours[passed]))
    rounds = int(waited // last)
    return Reminders(len(hours) - 1 + rounds, asked_at + timedelta(hours=last * (rounds + 1)))

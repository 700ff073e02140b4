"""Decides how long a run waits for an unavailable model. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.schemas.runs import RunPolicy

MAX_PAUSE_SECONDS = 60.0
"""Seconds between two tries if the provider does not say when its model is available again."""

MAX_UNAVAILABLE_FAILURES = 100
"""Maximum failures in a row. A provider that keeps postponing is not waited for any longer."""

_LONG_WAIT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class FailuresInARow:
    """Failures in a row because a model was unavailable.

    Attributes:
        failures: how many.
        since: time of the first one; a long wait that a provider asked for resets it.
    """

    failures: int = 0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """The decision after a model was unavailable.

    Attributes:
        until: no try before this time; None asks a reviewer instead.
        reset_at: when the provider's limit ends, if the run waits for that or the end is too far off.
        counted: the failures in a row, this one included.
    """

    until: datetime | None
    reset_at: datetime | None
    counted: FailuresInARow


def waited_enough(failed: FailuresInARow, policy: RunPolicy, now: datetime) -> bool:
    """Return True if a reviewer is asked instead of waiting any longer."""
    if failed.failures >= MAX_UNAVAILABLE_FAILURES:
        return True
    if failed.since is None or failed.failures < policy.max_agent_failures:
        return False
    return (now - failed.since).total_seconds() >= policy.max_unavailable_seconds


def rest_after(before: FailuresInARow, reset_at: datetime | None, policy: RunPolicy, now: datetime) -> Rest:
    """Decide how long a run rests after a model was unavailable.

    Args:
        before: the failures before this one.
        reset_at: when the provider's limit ends, if the provider says so.
        policy: the run's policy.
        now: the time of the failure.
    """
    counted = FailuresInARow(before.failures + 1, before.since or now)
    if reset_at is not None and reset_at > now:
        if reset_at - now > timedelta(seconds=policy.max_reset_wait_seconds):
            return Rest(None, reset_at, counted)
        if reset_at - now >= _LONG_WAIT:
            counted = FailuresInARow(counted.failures, None)
        over = waited_enough(counted, policy, now)
        return Rest(None, None, counted) if over else Rest(reset_at, reset_at, counted)
    if waited_enough(counted, policy, now):
        return Rest(None, None, counted)
    pause = min(MAX_PAUSE_SECONDS, policy.retry_base_seconds * 2 ** min(before.failures, 10))
    return Rest(now + timedelta(seconds=pause), None, counted)


def waits_words(reset_at: datetime, now: datetime) -> str:
    """Return until when a run waits for its provider, in UTC, as text.

    The day is named unless it is today.
    """
    at = f"{reset_at:%H:%M}" if reset_at.date() == now.date() else f"{reset_at:%Y-%m-%d %H:%M}"
    return f"waits for the provider until {at} UTC"

"""Finds dead workers: those whose heartbeat did not change while this worker watched."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Pulse:
    """A worker's heartbeat as the queue has it.

    Attributes:
        worker_id: the worker's number.
        heartbeat: the time that the worker wrote last; it is only compared for equality, never subtracted.
        overdue: whether the worker has been silent for too long by the database's clock.
    """

    worker_id: int
    heartbeat: datetime
    overdue: bool


@dataclass(frozen=True, slots=True)
class SilenceRules:
    """Thresholds in seconds, measured on this process's monotonic clock.

    Attributes:
        confirm: a worker whose heartbeat is overdue is dead once this process has seen the heartbeat
            unchanged for this long. Neither a clock that jumps nor an outage that stops all writes then makes
            a living worker look dead.
        dead: a worker whose heartbeat was unchanged for this long is dead, whatever the database's clock
            says.
        away: when this process has not looked for longer than this, it was stopped or cut off and starts
            observing anew.
    """

    confirm: float
    dead: float
    away: float

    @classmethod
    def of(cls, *, heartbeat: float, stalled_after: float, sweep: float) -> "SilenceRules":
        """Derive the thresholds from the engine's periods."""
        return cls(confirm=1.5 * heartbeat, dead=stalled_after, away=sweep + 2 * heartbeat)


class Silence:
    """Remembers since when each worker's heartbeat is unchanged."""

    def __init__(self, rules: SilenceRules) -> None:
        self._rules = rules
        self._looked_at: float | None = None
        self._since: dict[int, tuple[datetime, float]] = {}

    def dead(self, pulses: Iterable[Pulse], now: float) -> frozenset[int]:
        """Observe all workers and return the numbers of the dead ones.

        Args:
            pulses: every worker to observe.
            now: the time in seconds on a monotonic clock.
        """
        if self._looked_at is not None and now - self._looked_at > self._rules.away:
            self._since.clear()
        self._looked_at = now
        seen = {each.worker_id: each for each in pulses}
        self._since = {
            number: self._unchanged(pulse.heartbeat, self._since.get(number), now)
            for number, pulse in seen.items()
        }
        return frozenset(
            number for number, pulse in seen.items() if self._is_dead(pulse, now - self._since[number][1])
        )

    @staticmethod
    def _unchanged(
        heartbeat: datetime, before: tuple[datetime, float] | None, now: float
    ) -> tuple[datetime, float]:
        return before if before is not None and before[0] == heartbeat else (heartbeat, now)

    def _is_dead(self, pulse: Pulse, unchanged: float) -> bool:
        return unchanged >= self._rules.dead or (pulse.overdue and unchanged >= self._rules.confirm)

"""Tells which workers are dead: those whose heartbeat did not change while another worker watched."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Pulse:
    """A worker as the queue knows it.

    Attributes:
        worker_id: its number.
        heartbeat: what it wrote last; compared, never subtracted.
        overdue: by the database's clock it is silent for too long.
    """

    worker_id: int
    heartbeat: datetime
    overdue: bool


@dataclass(frozen=True, slots=True)
class SilenceRules:
    """Seconds on this process's monotonic clock.

    Attributes:
        confirm: an overdue heartbeat must have been seen unchanged for that long: neither a clock that jumped
            nor an outage that stops all writes makes the living look dead.
        dead: a heartbeat that is unchanged for that long is a dead worker's, whatever the clock says.
        away: who has not looked for that long was stopped or cut off himself, and begins anew.
    """

    confirm: float
    dead: float
    away: float

    @classmethod
    def of(cls, *, heartbeat: float, stalled_after: float, sweep: float) -> "SilenceRules":
        """The rules that follow from the engine's periods."""
        return cls(confirm=1.5 * heartbeat, dead=stalled_after, away=sweep + 2 * heartbeat)


class Silence:
    """Tracks how long each worker's heartbeat has been unchanged."""

    def __init__(self, rules: SilenceRules) -> None:
        self._rules = rules
        self._looked_at: float | None = None
        self._since: dict[int, tuple[datetime, float]] = {}

    def dead(self, pulses: Iterable[Pulse], now: float) -> frozenset[int]:
        """Look at all workers and give those that are dead.

        Args:
            pulses: every worker that is to be judged.
            now: a monotonic clock's seconds.
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

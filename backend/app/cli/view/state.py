"""A watched run as immutable values. Only `reduce` in `view.reducer` creates them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.core.events.evaluations import EvaluationData

FINAL = frozenset({"completed", "failed", "cancelled"})
WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class AttemptProgress:
    """One attempt.

    Attributes:
        number: from 1.
        step: `working`, `judging`, `passed`, `failed`, or `unjudged` (the evaluators reached no verdict).
        started_at: time of its latest step; elapsed time counts from here.
        tool_calls: how often the agent used a tool.
        activity: the agent's last few actions, one harmless line each.
        evaluators: the announced evaluators.
        verdicts: the verdicts so far, in order of arrival.
        score: the gates' mean score in [0, 1].
        trouble: why it does not continue at present.
    """

    number: int
    step: str
    started_at: datetime
    tool_calls: int = 0
    activity: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    verdicts: tuple[EvaluationData, ...] = ()
    score: float | None = None
    trouble: str = ""

    @property
    def missing_evaluators(self) -> tuple[str, ...]:
        """The evaluators that have not judged yet."""
        judged = {each.evaluator_name for each in self.verdicts}
        return tuple(name for name in self.evaluators if name not in judged)


@dataclass(frozen=True, slots=True)
class PhaseState:
    """One phase; `status` is pending, active, waiting, completed, failed or cancelled."""

    name: str
    max_attempts: int
    status: str = "pending"
    attempts: tuple[AttemptProgress, ...] = ()
    accepted_by: str | None = None

    @property
    def latest(self) -> AttemptProgress | None:
        """The attempt with the highest number."""
        return self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True)
class OpenEscalation:
    """The question that waits for a person."""

    id: UUID
    phase: str
    reason_kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run as its events up to `last_sequence` describe it."""

    id: UUID | None = None
    kind: str = "sprint"
    name: str = ""
    goal: str = ""
    agent: str = ""
    scripted: bool = False
    status: str = "queued"
    reason: str = ""
    commit: str | None = None
    phases: tuple[PhaseState, ...] = ()
    escalation: OpenEscalation | None = None
    last_sequence: int = 0

    @property
    def is_final(self) -> bool:
        """True once the run has ended."""
        return self.status in FINAL

    @property
    def is_waiting(self) -> bool:
        """True while the run waits for a person."""
        return self.status == WAITING

    @property
    def current(self) -> PhaseState | None:
        """The phase that is active or waiting."""
        return next((each for each in self.phases if each.status in ("active", WAITING)), None)

    def phase(self, name: str | None) -> PhaseState | None:
        """Return the phase with this name."""
        return next((each for each in self.phases if each.name == name), None)

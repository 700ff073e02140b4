"""The recorded facts of a run that the rules in `decision` use, as plain values."""

from dataclasses import dataclass
from datetime import datetime

from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    EscalationDecision,
    EscalationReason,
    RunStatus,
    SubtaskState,
)


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """What is recorded of one attempt of the current phase.

    Attributes:
        number: from 1.
        state: how far it has come.
        agent_failures: times the agent could not do its work since the last human decision, without those
            for which its model was unavailable.
        unavailable_failures: times in a row that a model was unavailable.
        unavailable_since: when the first of them was; None while the provider's own time is waited for.
        needs_human: the agent's last failure is not fixed by trying again (no key, wrong key).
        evaluation_failures: times the panel reached no verdict since the last human decision.
        lost_workers: workers that died on it since the last human decision.
        not_before: the attempt rests until then.
        fingerprint: identifies what failed; equal fingerprints are the same failure.
        tree: identifies the content of the working tree that was judged.
        error: the last failure's message.
        closing: what the attempt itself says becomes of the run; None leaves that to its verdict.
        subtask: of a delegated attempt, how far its subtask is.
        question: what a human is asked about it, when nothing else speaks against a pass.
        changed_nothing: it was to change files and changed none.
    """

    number: int
    state: AttemptState
    agent_failures: int = 0
    unavailable_failures: int = 0
    unavailable_since: datetime | None = None
    needs_human: bool = False
    evaluation_failures: int = 0
    lost_workers: int = 0
    not_before: datetime | None = None
    fingerprint: str | None = None
    tree: str | None = None
    error: str = ""
    closing: AttemptClosing | None = None
    subtask: SubtaskState | None = None
    question: str = ""
    changed_nothing: bool = False


@dataclass(frozen=True, slots=True)
class EscalationFacts:
    """What is recorded of one escalation of the current phase; `decision` is None while it is open."""

    attempt: int
    reason: EscalationReason
    decision: EscalationDecision | None = None
    decided_by: str = ""
    additional_attempts: int = 0
    guidance: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the run has consumed.

    Attributes:
        tokens: input and output, subtasks included.
        cost_usd: of the requests whose cost is known.
        budget_grants: how often a human granted the budget again.
        over_day: says which budget of the day is spent; empty if none is.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    budget_grants: int = 0
    over_day: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All that `decide` looks at.

    Attributes:
        status: the run's status.
        phases: the plan, in order.
        phase: the current phase; None when every phase is complete.
        attempts: attempts of the current phase, by number.
        escalations: escalations of the current phase, oldest first.
        spent: the run's ledger.
        now: the moment of the question, so that pauses can be decided without a clock.
        paused: a human holds the run.
    """

    status: RunStatus
    phases: tuple[str, ...]
    phase: str | None
    attempts: tuple[AttemptFacts, ...]
    escalations: tuple[EscalationFacts, ...]
    spent: Spent
    now: datetime
    paused: bool = False

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
    """The recorded facts of one attempt of the current phase.

    Attributes:
        number: counts from 1.
        state: how far the attempt has come.
        agent_failures: how often the agent failed since the last human decision, not counting failures
            because
            its model was unavailable.
        unavailable_failures: how many times in a row a model was unavailable.
        unavailable_since: time of the first of those failures; None while the run waits until a time that the
            provider named.
        needs_human: true if trying again cannot fix the agent's last failure (no key, wrong key).
        evaluation_failures: how often the panel reached no verdict since the last human decision.
        lost_workers: how many workers died on the attempt since the last human decision.
        not_before: the attempt rests until this time.
        fingerprint: identifies what failed; equal fingerprints mean the same failure.
        tree: identifies the content of the working tree that was judged.
        error: the message of the last failure.
        closing: what the attempt itself does to the run; None leaves that to its verdict.
        subtask: the state of the subtask, if the attempt delegated to one.
        question: the question for a reviewer, if nothing else prevents a pass.
        changed_nothing: true if the attempt had to change files and changed none.
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
    """The recorded facts of one escalation of the current phase. `decision` is None while it is open."""

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
        tokens: input and output tokens, subtasks included.
        cost_usd: cost of the requests with a known price.
        budget_grants: how often a reviewer granted the budget again.
        over_above: message that names the spent budget of a loop above a subtask; empty if none is spent.
        over_day: message that names the day's spent budget; empty if none is spent.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    budget_grants: int = 0
    over_above: str = ""
    over_day: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All input of `decide`.

    Attributes:
        status: the run's status.
        phases: the plan, in order.
        phase: the current phase; None if all phases are complete.
        attempts: attempts of the current phase, by number.
        escalations: escalations of the current phase, oldest first.
        spent: what the run has consumed.
        now: the present time, so that `decide` needs no clock.
        paused: true while a person holds the run.
    """

    status: RunStatus
    phases: tuple[str, ...]
    phase: str | None
    attempts: tuple[AttemptFacts, ...]
    escalations: tuple[EscalationFacts, ...]
    spent: Spent
    now: datetime
    paused: bool = False

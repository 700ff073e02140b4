"""Checks what must hold of runs after any fault: nothing is lost or done twice, each event occurs once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select, text

from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Escalation, Evaluation, EventRow, Run
from app.schemas.runs import RunStatus

_RESTS = {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.WAITING}
# Each of these events is recorded at most once for an attempt.
_ONCE = ("attempt.produced", "evaluation.completed", "optimization.started")
_ONCE_PER_PHASE = ("phase.completed",)
_ONCE_PER_RUN = ("run.created", "workflow.started", "workflow.completed", "workflow.failed", "run.cancelled")
_LAST = ("workflow.completed", "workflow.failed", "run.cancelled")
# For each event of an attempt: the event that must precede it, and the event that must not.
_ORDER: dict[str, tuple[str | None, str | None]] = {
    "attempt.started": (None, "attempt.produced"),
    "attempt.produced": ("attempt.started", "attempt.produced"),
    "evaluation.started": ("attempt.produced", "evaluation.completed"),
    "evaluation.completed": ("evaluation.started", "evaluation.completed"),
    "phase.completed": ("evaluation.completed", "phase.completed"),
}


@dataclass(frozen=True)
class Told:
    """One event, as it is stored or as a client received it."""

    sequence: int
    event: str
    phase: str | None
    attempt: int | None


def event_violations(told: Sequence[Told]) -> list[str]:
    """Return what is wrong with the events of one run, which are given in the order of delivery."""
    wrong: list[str] = []
    numbers = [each.sequence for each in told]
    if numbers != list(range(1, len(told) + 1)):
        wrong.append(f"sequences have gaps or doubles: {numbers}")
    wrong += _doubled(told)
    wrong += _out_of_order(told)
    ends = [position for position, each in enumerate(told) if each.event in _LAST]
    if ends and ends[0] != len(told) - 1:
        wrong.append(f"{told[ends[0] + 1].event} was told after the end")
    return wrong


def _doubled(told: Iterable[Told]) -> list[str]:
    counts: Counter[tuple[str, ...]] = Counter()
    for each in told:
        if each.event in _ONCE:
            counts[each.event, str(each.phase), str(each.attempt)] += 1
        elif each.event in _ONCE_PER_PHASE:
            counts[each.event, str(each.phase)] += 1
        elif each.event in _ONCE_PER_RUN:
            counts[(each.event,)] += 1
    return [f"{' '.join(what)} was told {count} times" for what, count in counts.items() if count > 1]


def _out_of_order(told: Iterable[Told]) -> list[str]:
    wrong: list[str] = []
    seen: dict[tuple[str | None, int | None], set[str]] = {}
    for each in told:
        which = (each.phase, each.attempt)
        before = seen.setdefault(which, set())
        needed, excluded = _ORDER.get(each.event, (None, None))
        if needed is not None and needed not in before:
            wrong.append(f"{each.event} of {which} was told without {needed}")
        if excluded is not None and excluded in before:
            wrong.append(f"{each.event} of {which} was told after {excluded}: it was done again")
        before.add(each.event)
    return wrong


async def run_violations(sessions: Sessions, run_id: UUID) -> list[str]:
    """Return what is wrong with one run in the database after all work has ended."""
    async with sessions() as session:
        run = await session.get_one(Run, run_id)
        rows = list(
            await session.scalars(
                select(EventRow).where(EventRow.run_id == run_id).order_by(EventRow.sequence)
            )
        )
        attempts = list(await session.scalars(select(Attempt).where(Attempt.run_id == run_id)))
        open_escalations = list(
            await session.scalars(
                select(Escalation).where(Escalation.run_id == run_id, Escalation.status == "open")
            )
        )
        jobs = await session.scalar(
            text("SELECT count(*) FROM procrastinate_jobs WHERE lock = :run"), {"run": str(run_id)}
        )
        judged = set(
            await session.scalars(
                select(Attempt.id)
                .join(Candidate, Candidate.attempt_id == Attempt.id)
                .join(Evaluation, Evaluation.candidate_id == Candidate.id)
                .where(Attempt.run_id == run_id)
            )
        )
    told = [Told(each.sequence, each.type, each.phase, each.attempt) for each in rows]
    wrong = event_violations(told)
    if RunStatus(run.status) not in _RESTS:
        wrong.append(f"the run is {run.status}")
    if run.last_sequence != len(rows):
        wrong.append(f"the counter is {run.last_sequence}, there are {len(rows)} events")
    if (run.status == RunStatus.WAITING) != bool(open_escalations):
        wrong.append(f"the run is {run.status} with {len(open_escalations)} open escalations")
    if jobs:
        wrong.append(f"{jobs} jobs are left")
    wrong += _attempt_violations(attempts, judged, told)
    return [f"run {run_id}: {each}" for each in wrong]


def _attempt_violations(attempts: Iterable[Attempt], judged: set[UUID], told: Sequence[Told]) -> list[str]:
    wrong: list[str] = []
    by_phase: dict[str, list[int]] = {}
    produced = {(each.phase, each.attempt) for each in told if each.event == "attempt.produced"}
    for each in attempts:
        by_phase.setdefault(each.phase, []).append(each.number)
        which = f"{each.phase} {each.number}"
        if each.status in ("passed", "failed") and each.id not in judged:
            wrong.append(f"{which} is {each.status} without an evaluation")
        if (each.head_commit is not None) != ((each.phase, each.number) in produced):
            wrong.append(f"{which} has output and no event, or the other way round")
    for phase, numbers in by_phase.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            wrong.append(f"attempts of {phase} are {sorted(numbers)}")
    return wrong


def follower_violations(got: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with the events that a client received while it followed a run to its end."""
    told = [Told(each["sequence"], each["event"], each["phase"], each["attempt"]) for each in got]
    wrong = event_violations(told)
    if not told or told[-1].event not in _LAST:
        wrong.append(f"the client saw no end: {told[-1:]}")
    return wrong

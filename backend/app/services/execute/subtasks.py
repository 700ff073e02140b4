"""Runs the subtask of a loop as a separate run: starts it and reads its result."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.events.iterations import SubtaskStartedData
from app.db.models import Attempt, Escalation, Run
from app.runners.loop.context import fill, turns_used
from app.runners.loop.requests import result_of
from app.runners.loop.roles import Exhausted, LoopLimits, Trouble
from app.runners.loop.steps import PHASE, Step, loop_policy
from app.runners.loop.subtasks import Lineage, SubtaskLedger, SubtaskPlan, outermost, plan_subtask
from app.schemas.loop.results import Exchange, FailureReason, LoopIteration, TaskResult
from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    RunPolicy,
    RunStatus,
    Usage,
)
from app.schemas.text import storable_text
from app.services.control.intake import announce, name_of
from app.services.record.iteration_events import MAX_CHARS, tell_trouble
from app.services.record.iterations import definition_document, iteration_of, keep_step, load_earlier, loop_of
from app.services.record.ledger import run_usage, spent
from app.services.record.loop_results import result_of_run
from app.services.record.queued_runs import queued_run
from app.services.record.snapshots import copy_snapshots
from app.services.record.transactions import Recording


@dataclass(frozen=True, slots=True)
class Came:
    """The outcome of a finished subtask.

    Attributes:
        result: the result for the director that asked, or why there is none.
        usage: what the subtask and all runs below it consumed.
        turns: the calls of agents in the subtask and all runs below it.
    """

    result: TaskResult | Trouble
    usage: Usage
    turns: int


def limits_of(run: Run) -> LoopLimits:
    """Return the limits of a loop; a subtask has the turns that were left when it was requested."""
    turns = (run.definition or {}).get("turns")
    return LoopLimits() if turns is None else LoopLimits(turns=turns)


async def spawn_subtask(recording: Recording, number: int) -> None:
    """Create the run for the subtask that an attempt requested; a refused request ends the loop.

    The run, its first job and its id in the requesting attempt are stored in one transaction, so a worker
    that dies leaves all of them or none.
    """
    session, run = recording.session, recording.run
    row = await _attempt(session, run.id, number)
    now = iteration_of(row.number, row.output, row.details)
    plan = await _plan(session, run, now)
    if isinstance(plan, Trouble | Exhausted):
        step = Step(now, AttemptState.FAILED, AttemptClosing.ERROR, plan)
        keep_step(row, step)
        row.completed_at = datetime.now(UTC)
        tell_trouble(recording, step)
        return
    subtask = _run_of(run, plan)
    session.add(subtask)
    await session.flush()
    await copy_snapshots(session, run.id, subtask.id)
    await announce(session, subtask)
    asked = now.exchanges[-1].model_copy(update={"run_id": subtask.id})
    now = now.model_copy(update={"exchanges": [*now.exchanges[:-1], asked]})
    keep_step(row, Step(now, AttemptState.DELEGATED))
    data = SubtaskStartedData(
        iteration=number,
        subtask_run_id=subtask.id,
        description=storable_text(plan.query[:MAX_CHARS]),
        depth=plan.lineage.depth,
    )
    recording.tell(data, PHASE, number)


async def _attempt(session: AsyncSession, run_id: UUID, number: int) -> Attempt:
    wanted = select(Attempt).where(Attempt.run_id == run_id, Attempt.phase == PHASE, Attempt.number == number)
    return (await session.scalars(wanted)).one()


async def _plan(session: AsyncSession, run: Run, now: LoopIteration) -> SubtaskPlan | Trouble | Exhausted:
    request = now.exchanges[-1].subtask_request
    assert request is not None  # noqa: S101 - an attempt without a request is not delegated
    earlier = await load_earlier(session, run.id, now.iteration)
    escalations = (await session.scalars(select(Escalation).where(Escalation.run_id == run.id))).all()
    definition, inputs = loop_of(run)
    kept: dict[str, Any] | None = (run.definition or {}).get("lineage")
    task = fill(definition.description, inputs.values)
    lineage = Lineage(tuple(kept["tasks"]), kept["deepest"]) if kept else outermost(task, inputs.values)
    ledger = SubtaskLedger(
        turns=limits_of(run).turns,
        turns_used=turns_used([*earlier, now]),
        budget=RunPolicy.model_validate(run.policy).budget,
        spent=spent(run, escalations),
    )
    return plan_subtask(request, definition, lineage, ledger, context=now.context)


def _run_of(parent: Run, plan: SubtaskPlan) -> Run:
    policy = RunPolicy.model_validate(parent.policy).model_copy(update={"budget": plan.budget})
    document = definition_document(plan.definition, dict(plan.inputs), plan.query, plan.inherited)
    return queued_run(
        kind=parent.kind,
        name=name_of(plan.query),
        goal=plan.query,
        phases=[PHASE],
        policy=loop_policy(policy, plan.definition),
        agent=parent.agent,
        source=parent.source,
        definition={
            **document,
            "lineage": {"tasks": list(plan.lineage.tasks), "deepest": plan.lineage.deepest},
            "turns": plan.turns,
        },
        base_commit=parent.base_commit,
        parent_run_id=parent.id,
        created_by=parent.created_by,
    )


def awaited(now: LoopIteration) -> Exchange | None:
    """Return the exchange whose subtask has no result yet, if the director waits for one."""
    last = now.exchanges[-1] if now.exchanges else None
    if last is None or last.subtask_request is None or last.result is not None:
        return None
    return last


async def came_of(session: AsyncSession, exchange: Exchange) -> Came:
    """Return the outcome of an exchange's subtask, which is over."""
    run = await session.get(Run, exchange.run_id) if exchange.run_id else None
    if run is None:
        return Came(_failed("its run was deleted"), Usage(), 0)
    rows = select(Attempt).where(Attempt.run_id == run.id, Attempt.phase == PHASE).order_by(Attempt.number)
    attempts = (await session.scalars(rows)).all()
    result, ended_by = result_of_run(run, attempts)
    turns = turns_used(result.iteration_history)
    if ended_by is not None:
        return Came(result_of(result), run_usage(run), turns)
    if run.status != RunStatus.COMPLETED:
        return Came(_failed(f"it {_ended(run)}"), run_usage(run), turns)
    back = result_of(result.model_copy(update={"error": None, "success": True}))
    if isinstance(back, TaskResult):
        back = back.model_copy(update={"notes": {**back.notes, "ended_by": "accepted by a human"}})
    return Came(back, run_usage(run), turns)


def _ended(run: Run) -> str:
    word = "was cancelled" if run.status == RunStatus.CANCELLED else "failed"
    return f"{word}: {run.status_reason}" if run.status_reason else word


def _failed(why: str) -> Trouble:
    return Trouble(FailureReason.SUBTASK_FAILURE, f"the subtask has no result: {why}")

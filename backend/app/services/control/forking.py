"""Starts a new sprint from an attempt of another one."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run
from app.runners.evaluators.feedback_memory import AttemptRecord
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.run_details import RunDetail, RunFork
from app.schemas.api.runs import ForkOrigin
from app.schemas.runs import AttemptState, RunPolicy
from app.services.control.held_out import copy_held_out
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import MAX_NAME_CHARS, announce
from app.services.control.policies import with_overrides
from app.services.read.runs import find_attempt, load_detail
from app.services.record.budgets import BudgetKeeper
from app.services.record.evaluations import evaluation_result
from app.services.record.history import guidance_lines
from app.services.record.queued_runs import queued_run
from app.services.record.snapshots import copy_snapshots
from app.services.record.transactions import EventBell


class ForkService:
    """Forks sprints. Only rows are copied: the first worker that takes the fork restores its files from them.

    Args:
        sessions: opens transactions.
        defaults: the operator's policy; its budget is the ceiling.
        bell: signals new events.
        budgets: refuses forks while a day's budget is spent; None sets no bound.
    """

    def __init__(
        self,
        sessions: Sessions,
        defaults: RunPolicy,
        bell: EventBell,
        budgets: BudgetKeeper | None = None,
    ) -> None:
        self._sessions = sessions
        self._defaults = defaults
        self._bell = bell
        self._budgets = budgets

    async def fork(self, run_id: UUID, request: RunFork, actor: str, once: Once = UNKEYED) -> RunDetail:
        """Create a sprint whose history starts with an attempt's commit; the original sprint does not change.

        Raises:
            NotFoundError: there is no such run or attempt.
            ConflictError: the attempt has no output yet, or its snapshot is no longer stored.
            BudgetSpentError: a day's budget is spent.
            ReplayError: the same request has forked the run in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            attempt = await find_attempt(session, run_id, request.phase, request.attempt)
            origin = await session.get_one(Run, run_id)
            if attempt.head_commit is None:
                raise ConflictError(
                    f"attempt {attempt.number} of {attempt.phase} has no output to begin with: "
                    f"it is {attempt.status}",
                    field="attempt",
                    run_status=origin.status,
                )
            if self._budgets is not None:
                await self._budgets.check_day_in(session, origin.source.get("location", ""))
            run = self._row(origin, attempt, attempt.head_commit, request, actor)
            run.guidance = await _guidance(session, origin, attempt, request.guidance)
            session.add(run)
            await session.flush()
            await _copy_snapshots(session, origin, run, attempt)
            await copy_held_out(session, origin.id, run.id, same_base=True)
            await announce(session, run)
            sprint = await load_detail(session, run.id)
            await once.keep(session, sprint)
        self._bell.ring(run.id)
        return sprint

    def _row(self, origin: Run, attempt: Attempt, commit: str, request: RunFork, actor: str) -> Run:
        overrides = request.policy
        agent = request.agent.model_dump(mode="json", exclude_none=True) if request.agent else origin.agent
        found = ForkOrigin(run_id=origin.id, phase=attempt.phase, attempt=attempt.number, commit=commit)
        return queued_run(
            kind=origin.kind,
            name=request.name or _name(origin.name),
            goal=origin.goal,
            phases=origin.phases[origin.phases.index(attempt.phase) :],
            policy=self._policy(origin, overrides),
            agent=agent,
            source=origin.source,
            base_commit=origin.base_commit,
            head_commit=commit,
            forked_from=found.model_dump(mode="json"),
            held_out_note=origin.held_out_note,
            created_by=actor,
        )

    def _policy(self, origin: Run, overrides: PolicyOverrides) -> RunPolicy:
        policy = RunPolicy.model_validate(origin.policy)
        if overrides.budget is not None:
            # A fork may exceed the policy of its origin, but never what the operator allows.
            policy = policy.model_copy(update={"budget": self._defaults.budget})
        return with_overrides(policy, overrides)


def _name(name: str) -> str:
    suffix = " (fork)"
    base = name.removesuffix(suffix)
    return f"{base[: MAX_NAME_CHARS - len(suffix)].rstrip()}{suffix}"


async def _guidance(session: AsyncSession, origin: Run, attempt: Attempt, said: str) -> list[str]:
    """Return the guidance of the new sprint: earlier guidance, what failed, and the new text."""
    escalations = await session.scalars(
        select(Escalation)
        .where(Escalation.run_id == origin.id, Escalation.phase == attempt.phase)
        .where(Escalation.attempt <= attempt.number)
        .order_by(Escalation.created_at)
    )
    lines = [*origin.guidance, *(line for each in escalations for line in guidance_lines(each))]
    if attempt.status == AttemptState.FAILED:
        lines += [
            f"The files you start from failed before: {issue}" for issue in await _issues(session, attempt)
        ]
    return list(dict.fromkeys([*lines, said] if said else lines))


async def _issues(session: AsyncSession, attempt: Attempt) -> list[str]:
    statement = (
        select(Evaluation)
        .join(Candidate)
        .where(Candidate.attempt_id == attempt.id, Candidate.index == (attempt.chosen_candidate or 0))
        .order_by(Evaluation.position)
    )
    results = [evaluation_result(each) for each in await session.scalars(statement)]
    return AttemptRecord(attempt.number, attempt.started_at, evaluation_results=results).issues_to_fix()


async def _copy_snapshots(session: AsyncSession, origin: Run, run: Run, attempt: Attempt) -> None:
    copied = await copy_snapshots(session, origin.id, run.id, run.head_commit)
    if not {run.base_commit, run.head_commit} <= copied:
        raise ConflictError(
            f"the files of attempt {attempt.number} of {attempt.phase} are no longer stored",
            field="attempt",
            run_status=origin.status,
        )

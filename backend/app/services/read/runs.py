"""Reads runs for the API: one complete run, one attempt, and many runs as lists show them."""

from collections.abc import Collection, Sequence
from uuid import UUID

import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer, load_only
from sqlalchemy.sql.base import ExecutableOption

from app.core.errors import NotFoundError
from app.db.engine import Sessions
from app.db.models import (
    Attempt,
    Candidate,
    Escalation,
    Evaluation,
    Run,
    RunBaseline,
    VerdictMark,
)
from app.runners.evaluators.panel import judges_usage
from app.schemas.api.attempts import AttemptDetail, AttemptView, PromptPart
from app.schemas.api.policies import PolicyView
from app.schemas.api.run_details import RunDetail
from app.schemas.api.runs import ListedRun, RunView
from app.schemas.baseline import Baseline, BaselineSummary, BaselineView
from app.schemas.runs import RunKind, RunPolicy
from app.services.read.forges import load_forge_views
from app.services.read.forks import load_forks
from app.services.read.held_out import load_held_out
from app.services.read.prompt_changes import prompt_changes
from app.services.read.views import (
    Marks,
    attempt_view,
    candidate_view,
    escalation_view,
    phase_views,
    run_view,
)
from app.services.record.evaluations import evaluation_result

_LISTED = (Attempt.run_id, Attempt.phase, Attempt.number, Attempt.score)


class RunQueries:
    """Reads runs."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def states(self, run_ids: Collection[UUID]) -> Sequence[ListedRun]:
        """Return these runs as lists show them; runs that do not exist are left out."""
        async with self._sessions() as session:
            runs = (await session.scalars(select(Run).where(Run.id.in_(run_ids)))).all()
            return await load_views(session, runs)

    async def get(self, run_id: UUID) -> RunDetail:
        """Return the complete view of one run.

        Raises:
            NotFoundError: there is no such run.
        """
        async with self._sessions() as session:
            # One snapshot of the database for the whole view, so that `last_sequence` matches what is shown.
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            return await load_detail(session, run_id)

    async def baseline(self, run_id: UUID) -> BaselineView:
        """Return what the base's tests did before the run changed anything.

        Raises:
            NotFoundError: there is no such run, or it has no baseline.
        """
        async with self._sessions() as session:
            return await load_baseline_view(session, run_id)

    async def attempts(self, run_id: UUID) -> list[AttemptView]:
        """Return a run's attempts in order.

        Raises:
            NotFoundError: there is no such run.
        """
        return (await self.get(run_id)).attempts

    async def attempt(self, run_id: UUID, phase: str, number: int) -> AttemptDetail:
        """Return one attempt with its prompt and every candidate.

        Raises:
            NotFoundError: there is no such run or attempt.
        """
        async with self._sessions() as session:
            attempt = await find_attempt(session, run_id, phase, number)
            before = await session.scalar(
                select(Attempt.prompt).where(
                    Attempt.run_id == run_id, Attempt.phase == phase, Attempt.number == number - 1
                )
            )
            statement = select(Candidate).where(Candidate.attempt_id == attempt.id).order_by(Candidate.index)
            candidates = (await session.scalars(statement)).all()
            evaluations = await _evaluations(session, [attempt.id])
            marks = await load_marks(session, [row.id for _, row in evaluations])
        changes = None if before is None else await _compared(before, attempt.prompt)
        return AttemptDetail(
            **dict(attempt_view(attempt, _chosen(attempt, evaluations), marks)),
            prompt=attempt.prompt,
            prompt_changes=changes,
            evaluation_usage=judges_usage(evaluation_result(row) for _, row in evaluations),
            optimization_context=attempt.optimization_context,
            candidates=[
                candidate_view(
                    each,
                    [row for candidate, row in evaluations if candidate.id == each.id],
                    marks,
                    chosen=each.index == attempt.chosen_candidate,
                )
                for each in candidates
            ],
        )


async def load_baseline_view(session: AsyncSession, run_id: UUID) -> BaselineView:
    """Read the complete baseline of a run.

    Raises:
        NotFoundError: there is no such run, or it has no baseline.
    """
    run = await find_run(session, run_id)
    kept = await session.get(RunBaseline, run.id)
    if kept is None:
        raise NotFoundError(f"run {run_id} has no baseline: none is measured yet, or no gate needs one")
    found = Baseline.model_validate(kept.tests)
    return BaselineView(
        note=found.in_words(), measured_at=kept.created_at, reused=kept.reused, baseline=found
    )


async def find_run(session: AsyncSession, run_id: UUID, kind: RunKind | None = None) -> Run:
    """Read one run; with `kind`, only a run of that kind.

    Raises:
        NotFoundError: there is no such run, or it is of another kind; then the message
            names the kind and its path.
    """
    run = await session.get(Run, run_id, populate_existing=True)
    if run is None:
        raise NotFoundError(f"there is no {kind.word if kind else 'run'} {run_id}")
    found = RunKind(run.kind)
    if kind is not None and kind is not found:
        articles = {RunKind.ANSWER: "an"}
        path = f"/api/v1/{found.word}s/{run_id}"
        raise NotFoundError(
            f"{run_id} is {articles.get(found, 'a')} {found.word}, "
            f"not {articles.get(kind, 'a')} {kind.word}; see {path}",
            kind=found,
            path=path,
        )
    return run


async def load_detail(session: AsyncSession, run_id: UUID) -> RunDetail:
    """Read the complete view of one run in the session's transaction.

    Raises:
        NotFoundError: there is no such run.
    """
    return await show_run(session, await find_run(session, run_id))


async def show_run(session: AsyncSession, run: Run) -> RunDetail:
    """Return the complete view of a run that the session's transaction has read."""
    run_id = run.id
    attempts = await _attempts(session, [run_id], defer(Attempt.prompt), defer(Attempt.optimization_context))
    escalations = await _escalations(session, [run_id])
    views = await load_attempt_views(session, attempts)
    position = {phase: index for index, phase in enumerate(run.phases)}
    ordered = sorted(attempts, key=lambda each: (position.get(each.phase, -1), each.number))
    forges = await load_forge_views(session, [run_id])
    return RunDetail(
        **dict(run_view(run, attempts, escalations, forges.get(run_id))),
        source=run.source,
        guidance=run.guidance,
        policy=PolicyView.of(RunPolicy.model_validate(run.policy)),
        held_out=await load_held_out(session, run),
        baseline=await _baseline(session, run_id),
        base_commit=run.base_commit,
        head_commit=run.head_commit,
        phases=phase_views(run, attempts, escalations),
        attempts=[views[each.id] for each in ordered],
        escalations=[escalation_view(each, run) for each in escalations],
        forks=await load_forks(session, run_id),
    )


async def _baseline(session: AsyncSession, run_id: UUID) -> BaselineSummary | None:
    kept = await session.scalar(select(RunBaseline.summary).where(RunBaseline.run_id == run_id))
    return None if kept is None else BaselineSummary.model_validate(kept)


async def load_attempt_views(session: AsyncSession, attempts: Sequence[Attempt]) -> dict[UUID, AttemptView]:
    """Return attempts by id, with the verdicts on their chosen candidates and the marks on these verdicts."""
    evaluations = await _evaluations(session, [each.id for each in attempts])
    marks = await load_marks(session, [row.id for _, row in evaluations])
    return {each.id: attempt_view(each, _chosen(each, evaluations), marks) for each in attempts}


async def load_marks(session: AsyncSession, evaluation_ids: Sequence[UUID]) -> Marks:
    """Read the marks on verdicts."""
    statement = (
        select(VerdictMark)
        .where(VerdictMark.evaluation_id.in_(evaluation_ids))
        .order_by(VerdictMark.marked_at.desc(), VerdictMark.id)
    )
    found: dict[UUID, list[VerdictMark]] = {}
    for mark in await session.scalars(statement):
        found.setdefault(mark.evaluation_id, []).append(mark)
    return found


async def find_attempt(session: AsyncSession, run_id: UUID, phase: str, number: int) -> Attempt:
    """Read one attempt.

    Raises:
        NotFoundError: there is no such run or attempt.
    """
    run = await find_run(session, run_id)
    statement = select(Attempt).where(
        Attempt.run_id == run.id, Attempt.phase == phase, Attempt.number == number
    )
    attempt = (await session.execute(statement)).scalar_one_or_none()
    if attempt is None:
        raise NotFoundError(f"run {run_id} has no attempt {number} of phase {phase}")
    return attempt


async def load_views(session: AsyncSession, runs: Sequence[Run]) -> list[RunView]:
    """Return runs as lists show them, in the same order."""
    ids = [each.id for each in runs]
    attempts = await _attempts(session, ids, load_only(*_LISTED))
    escalations = await _escalations(session, ids)
    forges = await load_forge_views(session, ids)
    return [
        run_view(
            run,
            [each for each in attempts if each.run_id == run.id],
            [each for each in escalations if each.run_id == run.id],
            forges.get(run.id),
        )
        for run in runs
    ]


async def _attempts(
    session: AsyncSession, run_ids: Sequence[UUID], *columns: ExecutableOption
) -> Sequence[Attempt]:
    statement = select(Attempt).where(Attempt.run_id.in_(run_ids)).order_by(Attempt.number)
    return (await session.scalars(statement.options(*columns))).all()


async def _escalations(session: AsyncSession, run_ids: Sequence[UUID]) -> Sequence[Escalation]:
    statement = select(Escalation).where(Escalation.run_id.in_(run_ids)).order_by(Escalation.created_at)
    return (await session.scalars(statement)).all()


async def _evaluations(
    session: AsyncSession, attempt_ids: Sequence[UUID]
) -> Sequence[tuple[Candidate, Evaluation]]:
    statement = (
        select(Candidate, Evaluation)
        .join(Evaluation, Evaluation.candidate_id == Candidate.id)
        .where(Candidate.attempt_id.in_(attempt_ids))
        .order_by(Candidate.index, Evaluation.position)
        .options(load_only(Candidate.attempt_id, Candidate.index))
    )
    return (await session.execute(statement)).all()


async def _compared(before: str, after: str) -> list[PromptPart]:
    return await anyio.to_thread.run_sync(prompt_changes, before, after)


def _chosen(attempt: Attempt, evaluations: Sequence[tuple[Candidate, Evaluation]]) -> list[Evaluation]:
    chosen = attempt.chosen_candidate or 0
    return [
        row
        for candidate, row in evaluations
        if candidate.attempt_id == attempt.id and candidate.index == chosen
    ]

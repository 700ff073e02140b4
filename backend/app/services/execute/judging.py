"""Has the recorded output of an attempt judged, and records the verdict."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Protocol
from uuid import UUID

import logfire
from sqlalchemy import select

from app.agents.models.judge import Judge
from app.core.errors import WorkspaceError
from app.core.events.candidates import JudgeStartedData
from app.core.events.evaluations import (
    EvaluationCompletedData,
    EvaluationData,
    EvaluationFailedData,
    EvaluationStartedData,
    EvaluatorCompletedEvent,
)
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Run
from app.db.outages import is_outage, through_outages
from app.jobs.queue import enqueue_advance
from app.realtime.store import Fence
from app.runners.decision import backoff_seconds, rest_until
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.models.digest import digest
from app.runners.evaluators.panel import judges_usage
from app.runners.evaluators.project.project_file import MAX_BYTES
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.runners.phase_runner import PhaseRunner
from app.schemas.project_file import PROJECT_FILE
from app.schemas.runs import AttemptState, Usage
from app.services.record.attempts import judge_decided, total_usage
from app.services.record.evaluations import store_evaluations
from app.services.record.history import Recorded, load_acceptances, load_latest_feedback
from app.services.record.ledger import spend
from app.services.record.transactions import Recorder, Recording, place_in
from app.workspaces.store import JudgedPair

logger = logging.getLogger(__name__)


class JudgedCopies(Protocol):
    """Materialises commits for judging."""

    def judged(self, run_id: UUID, commit: str, base_commit: str) -> AbstractAsyncContextManager[JudgedPair]:
        """Give fresh copies of a commit and of the base; they are removed when the block is left."""
        ...

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """Give the first `limit` bytes of a file in a commit, or None when it has none there."""
        ...


@dataclass(frozen=True, slots=True)
class _Judged:
    candidate: Candidate
    results: list[EvaluationResult]
    verdict: PanelVerdict


@dataclass(frozen=True, slots=True)
class _Work:
    """What is the same for all candidates of an attempt."""

    recorded: Recorded
    attempt: Attempt
    context: EvaluationContext
    acceptances: Sequence[Acceptance]


@dataclass(frozen=True, slots=True)
class _NoVerdict:
    """Why nothing was decided, by which gates; what was judged nevertheless, and what of it is kept."""

    reason: str
    gates: Sequence[str] = ()
    judged: Sequence[_Judged] = ()
    kept: Sequence[_Judged] = ()


class Judging:
    """Evaluates attempts.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        runner: knows the evaluators and the verdict.
        copies: gives the trees that are judged.
        judge: chooses between candidates that the gates rank alike.
    """

    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        runner: PhaseRunner,
        copies: JudgedCopies,
        judge: Judge,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._runner = runner
        self._copies = copies
        self._judge = judge

    async def __call__(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Judge attempt `number` of the run's current phase and record the outcome."""
        run = recorded.run
        content = await self._copies.file_at(run.id, run.base_commit, PROJECT_FILE, MAX_BYTES + 1)
        # What judges a run is what its base commit says, in every phase and in whichever worker.
        runner = self._runner.for_project(content)
        judging = Judging(self._sessions, self._recorder, runner, self._copies, self._judge)
        await judging._judge_attempt(recorded, number, fence)

    async def _judge_attempt(self, recorded: Recorded, number: int, fence: Fence) -> None:
        attempt = next(each for each in recorded.attempts if each.number == number)
        with logfire.span("evaluate {phase} attempt {number}", phase=attempt.phase, number=number):
            await self._begin(recorded.run, attempt, fence)
            try:
                judged = await self._judge_candidates(recorded, attempt, fence)
            except (WorkspaceError, OSError) as error:
                if is_outage(error):
                    raise
                trouble = _NoVerdict(f"There is no place to judge in: {error}")
                await self._record_no_verdict(recorded, attempt, trouble, fence)
                return
            chosen = await self._choose(recorded, attempt, judged, fence)
            if chosen.verdict.status is VerdictStatus.ERRORED:
                verdict = chosen.verdict
                trouble = _NoVerdict(verdict.reason, verdict.errored_gates, judged, [chosen])
                await self._record_no_verdict(recorded, attempt, trouble, fence)
            else:
                await self._record_verdict(recorded, attempt, judged, chosen, fence)

    async def _begin(self, run: Run, attempt: Attempt, fence: Fence) -> None:
        phase, number = attempt.phase, attempt.number
        names = [each.name for each in self._runner.get_evaluator_registry().get_evaluators(phase)]
        async with self._recorder.open_claimed(run.id, fence, attempt.claim) as (recording, row):
            if row.status == AttemptState.EVALUATING:
                row.lost_workers += 1
            row.status = AttemptState.EVALUATING
            recording.tell(EvaluationStartedData(evaluators=names), phase, number)

    async def _judge_candidates(self, recorded: Recorded, attempt: Attempt, fence: Fence) -> list[_Judged]:
        async with self._sessions() as session:
            statement = select(Candidate).where(Candidate.attempt_id == attempt.id).order_by(Candidate.index)
            candidates = [each for each in await session.scalars(statement) if each.head_commit]
            feedback = await load_latest_feedback(session, recorded)
            acceptances = await load_acceptances(session, recorded)
        context: EvaluationContext = {
            "goal": recorded.run.goal,
            "attempt": attempt.number,
            "run_id": recorded.run.id,
            "previous_feedback": feedback,
            "open_paths": list(recorded.policy.open_paths),
            "goal_tests": list(recorded.policy.goal_tests),
        }
        if recorded.policy.protected is not None:
            context["protected_policy"] = recorded.policy.protected
        if recorded.policy.base_failures is not None:
            context["base_failures"] = recorded.policy.base_failures
        work = _Work(recorded, attempt, context, acceptances)
        return [await self._judge_one(work, each, fence) for each in candidates]

    async def _judge_one(self, work: _Work, candidate: Candidate, fence: Fence) -> _Judged:
        run, policy, phase = work.recorded.run, work.recorded.policy, work.attempt.phase
        commit = candidate.head_commit
        assert commit is not None  # noqa: S101 - candidates without output are not judged

        async def tell(result: EvaluationResult) -> None:
            at = place_in(run.id, phase, work.attempt.number)
            event = EvaluatorCompletedEvent(
                **dict(at.model_copy(update={"trace_id": result.trace_id})),
                data=self._event_data(phase, result),
            )
            await through_outages(partial(self._recorder.progress, run.id, fence, [event]))

        async with self._copies.judged(run.id, commit, run.base_commit) as trees:
            trees_of: EvaluationContext = {
                **work.context,
                "workspace_ref": str(trees.candidate),
                "base_ref": str(trees.base),
            }
            results = await self._runner.evaluate_phase_output(
                phase,
                candidate.output,
                trees_of,
                policy.deterministic_only,
                on_result=tell,
                acceptances=work.acceptances,
            )
        verdict = self._runner.judge(phase, results, policy, work.acceptances)
        return _Judged(candidate, results, verdict)

    async def _choose(
        self, recorded: Recorded, attempt: Attempt, judged: list[_Judged], fence: Fence
    ) -> _Judged:
        best = max(_rank(each.verdict) for each in judged)
        leaders = [each for each in judged if _rank(each.verdict) == best]
        if len(leaders) == 1:
            return leaders[0]
        run = recorded.run
        indexes = [each.candidate.index for each in leaders]
        async with self._recorder.open_claimed(run.id, fence, attempt.claim) as (recording, _):
            recording.tell(JudgeStartedData(candidates=indexes), attempt.phase, attempt.number)
        choice = await self._judge.choose(
            run.goal, [await self._contender(run, each.candidate) for each in leaders]
        )
        async with self._recorder.open_claimed(run.id, fence, attempt.claim) as (recording, _):
            spend(recording.run, total_usage([choice]))
            recording.tell(judge_decided(choice), attempt.phase, attempt.number)
        return next(each for each in leaders if each.candidate.index == choice.index)

    async def _contender(self, run: Run, candidate: Candidate) -> "_Contender":
        commit = candidate.head_commit
        assert commit is not None  # noqa: S101 - candidates without output are not judged
        async with self._copies.judged(run.id, commit, run.base_commit) as trees:
            diff = await asyncio.to_thread(_diff, trees)
        return _Contender(candidate.index, candidate.output, candidate.changed_files, diff)

    async def _record_no_verdict(
        self, recorded: Recorded, attempt: Attempt, trouble: _NoVerdict, fence: Fence
    ) -> None:
        policy = recorded.policy

        async def write(recording: Recording, row: Attempt) -> None:
            await self._store(recording, trouble.kept, attempt.phase)
            spend(recording.run, _usage(trouble.judged))
            row.status = AttemptState.PRODUCED
            row.evaluation_failures += 1
            row.last_error = row.verdict_reason = trouble.reason
            again = row.evaluation_failures < policy.max_evaluation_failures
            pause = backoff_seconds(row.evaluation_failures, policy) if again else None
            if again:
                row.not_before = rest_until(row.evaluation_failures, policy, datetime.now(UTC))
                await enqueue_advance(recording.session, recorded.run.id, at=row.not_before)
            data = EvaluationFailedData(
                reason=trouble.reason,
                evaluators=list(trouble.gates),
                failures=row.evaluation_failures,
                retry_in_seconds=pause,
            )
            recording.tell(data, attempt.phase, attempt.number)

        await self._recorder.outcome(recorded.run.id, fence, attempt.claim, AttemptState.EVALUATING, write)

    async def _record_verdict(
        self, recorded: Recorded, attempt: Attempt, judged: list[_Judged], chosen: _Judged, fence: Fence
    ) -> None:
        verdict, phase = chosen.verdict, attempt.phase

        async def write(recording: Recording, row: Attempt) -> None:
            await self._store(recording, judged, phase)
            row.status = AttemptState.PASSED if verdict.passed else AttemptState.FAILED
            row.verdict = verdict.status.value
            row.verdict_reason = verdict.reason
            row.score = verdict.score
            row.completed_at = datetime.now(UTC)
            row.not_before = None
            row.fingerprint = None if verdict.passed else _fingerprint(chosen)
            _adopt(row, chosen.candidate)
            spend(recording.run, _usage(judged))
            data = EvaluationCompletedData(
                phase=phase,
                attempt=attempt.number,
                overall_passed=verdict.passed,
                evaluations=[self._event_data(phase, each) for each in chosen.results],
                score=verdict.score,
                reason=verdict.reason,
            )
            recording.tell(data, phase, attempt.number)

        await self._recorder.outcome(recorded.run.id, fence, attempt.claim, AttemptState.EVALUATING, write)

    async def _store(self, recording: Recording, judged: Sequence[_Judged], phase: str) -> None:
        results = {each.candidate.id: each.results for each in judged}
        await store_evaluations(recording.session, results, self._gates(phase))

    def _gates(self, phase: str) -> frozenset[str]:
        return frozenset(self._runner.get_evaluator_registry().gates(phase))

    def _event_data(self, phase: str, result: EvaluationResult) -> EvaluationData:
        return EvaluationData(
            evaluator_name=result.evaluator_name,
            category=result.category.value,
            passed=result.passed,
            score=result.score,
            feedback=result.feedback,
            suggestions=result.suggestions,
            status=result.status.value,
            gate=result.evaluator_name in self._gates(phase),
            duration_ms=result.duration_ms,
        )


def _rank(verdict: PanelVerdict) -> tuple[bool, bool, bool, float]:
    asks = verdict.status is VerdictStatus.ASKS
    return verdict.passed, asks, verdict.status is not VerdictStatus.ERRORED, verdict.score


@dataclass(frozen=True, slots=True)
class _Contender:
    index: int
    output: str
    changed_files: list[str]
    diff: str


def _diff(trees: JudgedPair) -> str:
    return digest(trees.candidate, trees.base).shown().text


def _usage(judged: Sequence[_Judged]) -> Usage:
    return judges_usage([result for each in judged for result in each.results])


def _fingerprint(judged: _Judged) -> str:
    failed = set(judged.verdict.failed_gates)
    return failure_fingerprint(each for each in judged.results if each.evaluator_name in failed)


def _adopt(row: Attempt, candidate: Candidate) -> None:
    row.chosen_candidate = candidate.index
    row.output = candidate.output
    row.head_commit = candidate.head_commit
    row.tree = candidate.tree
    row.changed_files = candidate.changed_files

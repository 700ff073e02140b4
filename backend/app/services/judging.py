"""Has the recorded output of an attempt judged, and records the verdict."""

import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, cast
from uuid import UUID

import logfire
from sqlalchemy import delete, select

from app.core.event_data import (
    EvaluationCompletedData,
    EvaluationData,
    EvaluationFailedData,
    EvaluationStartedData,
    JudgeDecidedData,
    JudgeStartedData,
)
from app.core.websocket_events import (
    EvaluationCompletedEvent,
    EvaluationFailedEvent,
    EvaluationStartedEvent,
    EvaluatorCompletedEvent,
    JudgeDecidedEvent,
    JudgeStartedEvent,
)
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Evaluation, Run
from app.jobs.queue import enqueue_advance
from app.realtime.store import Fence
from app.runners.decision import backoff_seconds, rest_until
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.verdict import Verdict, VerdictStatus
from app.runners.phase_runner import PhaseRunner
from app.schemas.runs import AttemptState
from app.services.history import Recorded, load_memory
from app.services.recording import Recorder, Recording

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JudgedTrees:
    """Copies that only the evaluators see: the candidate's commit, and the run's base."""

    candidate: Path
    base: Path


class JudgedCopies(Protocol):
    """Materialises commits for judging."""

    def open(self, run_id: UUID, commit: str, base_commit: str) -> AbstractAsyncContextManager[JudgedTrees]:
        """Give fresh copies of a commit and of the base; they are removed when the block is left."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of several candidates a judge prefers, and why."""

    index: int
    rationale: str
    score: float | None = None
    model: str | None = None


class TieBreaker(Protocol):
    """Chooses between candidates that the gates rank alike."""

    async def choose(self, goal: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose one of at least two candidates."""
        ...


@dataclass(frozen=True, slots=True)
class _Judged:
    candidate: Candidate
    results: list[EvaluationResult]
    verdict: Verdict


class Judging:
    """Evaluates attempts.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        runner: knows the evaluators and the verdict.
        copies: gives the trees that are judged.
        tie_breaker: chooses between candidates that the gates rank alike.
    """

    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        runner: PhaseRunner,
        copies: JudgedCopies,
        tie_breaker: TieBreaker,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._runner = runner
        self._copies = copies
        self._tie_breaker = tie_breaker

    async def __call__(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Judge attempt `number` of the run's current phase and record the outcome."""
        attempt = next(each for each in recorded.attempts if each.number == number)
        with logfire.span("evaluate {phase} attempt {number}", phase=attempt.phase, number=number):
            await self._begin(recorded.run, attempt, fence)
            judged = await self._judge_candidates(recorded, attempt, fence)
            chosen = await self._choose(recorded, attempt, judged, fence)
            if chosen.verdict.status is VerdictStatus.ERRORED:
                await self._record_no_verdict(recorded, attempt, chosen, fence)
            else:
                await self._record_verdict(recorded, attempt, judged, chosen, fence)

    async def _begin(self, run: Run, attempt: Attempt, fence: Fence) -> None:
        phase, number = attempt.phase, attempt.number
        names = [each.name for each in self._runner.get_evaluator_registry().get_evaluators(phase)]
        async with self._recorder.open_claimed(run.id, fence, attempt.claim) as (recording, row):
            if row.status == AttemptState.EVALUATING:
                row.lost_workers += 1
            row.status = AttemptState.EVALUATING
            at = dict(recording.envelope(phase, number))
            recording.emit(EvaluationStartedEvent(**at, data=EvaluationStartedData(evaluators=names)))

    async def _judge_candidates(self, recorded: Recorded, attempt: Attempt, fence: Fence) -> list[_Judged]:
        async with self._sessions() as session:
            statement = select(Candidate).where(Candidate.attempt_id == attempt.id).order_by(Candidate.index)
            candidates = [each for each in await session.scalars(statement) if each.head_commit]
            memory = await load_memory(session, recorded)
        last = memory.latest_attempt
        context: EvaluationContext = {
            "goal": recorded.run.goal,
            "attempt": attempt.number,
            "run_id": recorded.run.id,
            "previous_feedback": last.get_failed_feedback() if last else [],
        }
        return [await self._judge_one(recorded, attempt, each, context, fence) for each in candidates]

    async def _judge_one(
        self,
        recorded: Recorded,
        attempt: Attempt,
        candidate: Candidate,
        context: EvaluationContext,
        fence: Fence,
    ) -> _Judged:
        run, phase = recorded.run, attempt.phase
        commit = candidate.head_commit
        assert commit is not None  # noqa: S101 - candidates without output are not judged

        async def tell(result: EvaluationResult) -> None:
            event = EvaluatorCompletedEvent(
                run_id=run.id,
                sprint_id=run.id,
                phase=phase,
                attempt=attempt.number,
                trace_id=result.trace_id,
                data=self._event_data(phase, result),
            )
            await self._recorder.progress(run.id, fence, [event])

        async with self._copies.open(run.id, commit, run.base_commit) as trees:
            context = {**context, "workspace_ref": str(trees.candidate), "base_ref": str(trees.base)}
            results = await self._runner.evaluate_phase_output(
                phase, candidate.output, context, recorded.policy.deterministic_only, on_result=tell
            )
        return _Judged(candidate, results, self._runner.judge(phase, results, recorded.policy))

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
            at = dict(recording.envelope(attempt.phase, attempt.number))
            recording.emit(JudgeStartedEvent(**at, data=JudgeStartedData(candidates=indexes)))
        choice = await self._tie_breaker.choose(run.goal, [each.candidate for each in leaders])
        async with self._recorder.open_claimed(run.id, fence, attempt.claim) as (recording, _):
            at = dict(recording.envelope(attempt.phase, attempt.number))
            decided = JudgeDecidedData(
                candidate=choice.index, score=choice.score, rationale=choice.rationale, model=choice.model
            )
            recording.emit(JudgeDecidedEvent(**at, data=decided))
        return next(each for each in leaders if each.candidate.index == choice.index)

    async def _record_no_verdict(
        self, recorded: Recorded, attempt: Attempt, judged: _Judged, fence: Fence
    ) -> None:
        policy, verdict = recorded.policy, judged.verdict
        async with self._recorder.open_claimed(recorded.run.id, fence, attempt.claim) as (recording, row):
            await _store(recording, [judged], self._gates(attempt.phase))
            row.status = AttemptState.PRODUCED
            row.evaluation_failures += 1
            row.last_error = row.verdict_reason = verdict.reason
            again = row.evaluation_failures < policy.max_evaluation_failures
            pause = backoff_seconds(row.evaluation_failures, policy) if again else None
            if again:
                row.not_before = rest_until(row.evaluation_failures, policy, datetime.now(UTC))
                await enqueue_advance(recording.session, recorded.run.id, at=row.not_before)
            data = EvaluationFailedData(
                reason=verdict.reason,
                evaluators=list(verdict.errored_gates),
                failures=row.evaluation_failures,
                retry_in_seconds=pause,
            )
            at = dict(recording.envelope(attempt.phase, attempt.number))
            recording.emit(EvaluationFailedEvent(**at, data=data))

    async def _record_verdict(
        self, recorded: Recorded, attempt: Attempt, judged: list[_Judged], chosen: _Judged, fence: Fence
    ) -> None:
        verdict, phase = chosen.verdict, attempt.phase
        async with self._recorder.open_claimed(recorded.run.id, fence, attempt.claim) as (recording, row):
            await _store(recording, judged, self._gates(phase))
            row.status = AttemptState.PASSED if verdict.passed else AttemptState.FAILED
            row.verdict = verdict.status.value
            row.verdict_reason = verdict.reason
            row.score = verdict.score
            row.completed_at = datetime.now(UTC)
            row.not_before = None
            row.fingerprint = None if verdict.passed else failure_fingerprint(chosen.results)
            _adopt(row, chosen.candidate)
            _spend_on_judges(recording.run, [result for each in judged for result in each.results])
            data = EvaluationCompletedData(
                phase=phase,
                attempt=attempt.number,
                overall_passed=verdict.passed,
                evaluations=[self._event_data(phase, each) for each in chosen.results],
                score=verdict.score,
                reason=verdict.reason,
            )
            at = dict(recording.envelope(phase, attempt.number))
            recording.emit(EvaluationCompletedEvent(**at, data=data))

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


def _rank(verdict: Verdict) -> tuple[bool, bool, float]:
    return verdict.passed, verdict.status is not VerdictStatus.ERRORED, verdict.score


def _adopt(row: Attempt, candidate: Candidate) -> None:
    row.chosen_candidate = candidate.index
    row.output = candidate.output
    row.head_commit = candidate.head_commit
    row.tree = candidate.tree
    row.changed_files = candidate.changed_files


def _spend_on_judges(run: Run, results: Sequence[EvaluationResult]) -> None:
    for given in (each.metadata.get("usage") for each in results):
        if not isinstance(given, dict):
            continue
        usage = cast("dict[str, Any]", given)
        run.used_requests += int(usage.get("requests") or 0)
        run.used_input_tokens += int(usage.get("input_tokens") or 0)
        run.used_output_tokens += int(usage.get("output_tokens") or 0)
        if usage.get("cost_usd") is not None:
            run.used_cost_usd = (run.used_cost_usd or 0.0) + float(usage["cost_usd"])


async def _store(recording: Recording, judged: Sequence[_Judged], gates: frozenset[str]) -> None:
    # What an earlier try without a verdict left is replaced: its events still tell of it.
    candidates = [each.candidate.id for each in judged]
    await recording.session.execute(delete(Evaluation).where(Evaluation.candidate_id.in_(candidates)))
    for each in judged:
        rows = [
            _row(each.candidate.id, position, result, gates) for position, result in enumerate(each.results)
        ]
        recording.session.add_all(rows)


def _row(candidate_id: UUID, position: int, result: EvaluationResult, gates: frozenset[str]) -> Evaluation:
    return Evaluation(
        candidate_id=candidate_id,
        position=position,
        evaluator=result.evaluator_name,
        version=result.evaluator_version,
        category=result.category.value,
        gate=result.evaluator_name in gates,
        status=result.status.value,
        passed=result.passed,
        score=result.score,
        feedback=result.feedback,
        criteria=[each.model_dump(mode="json") for each in result.criteria],
        suggestions=result.suggestions,
        details=result.metadata,
        duration_ms=result.duration_ms,
        trace_id=result.trace_id,
    )

"""Carries out attempts at an answer; the text is recorded before it is evaluated."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID, uuid4

import logfire
from sqlalchemy import select

from app.core.errors import NotFoundError, WorkspaceError
from app.core.events.evaluations import EvaluationStartedData
from app.core.tracing import current_trace_id
from app.db.engine import Sessions
from app.db.models import Attempt
from app.db.outages import is_outage
from app.realtime.store import Fence
from app.runners.answer.steps import PHASE, AnswerAttempt, AnswerSteps
from app.runners.answer.synthesizer import Synthesis
from app.runners.evaluators.response_result import quality_result
from app.schemas.agents import AgentSpec
from app.schemas.runs import AttemptState, ModelRole, Usage
from app.services.execute.answer_parts import AnswerEquipment, AnswerParts
from app.services.record.answers import AnswerQuestion, attempt_of, keep_attempt, question_of
from app.services.record.attempts import claim_attempt
from app.services.record.history import Recorded, said_by_humans, told
from app.services.record.ledger import charge
from app.services.record.texts import RoleText, store_verdict, store_written
from app.services.record.transactions import Recorder, Recording
from app.services.record.waiting import ModelTrouble, end_wait, forget_failures, lay_down_for

EVALUATOR = "response_quality"
"""The evaluator's name under which verdicts on answers are stored."""

_WRITER, _EVALUATOR = "the model of the writer", "the model of the evaluator"


class AnswerRunning:
    """Carries out attempts.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        workshop: provides the parts that do the work.
    """

    def __init__(self, sessions: Sessions, recorder: Recorder, workshop: AnswerEquipment) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._workshop = workshop

    async def write(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Write attempt `number` and record the text."""
        run, question = recorded.run, question_of(recorded.run)
        with logfire.span("answer attempt {number}", number=number):
            claim = await self._open(recorded, number, fence)
            attempt = await self._write(recorded, question, number)

            async def record(recording: Recording, row: Attempt) -> None:
                written = attempt.synthesis
                trouble = ModelTrouble.of(written.kind, attempt.trouble, written.retry_at, _WRITER)
                if trouble is not None:
                    used = Usage.model_validate(asdict(written.usage))
                    await charge(recording, row, ModelRole.ANSWER, used)
                    await lay_down_for(recording, row, trouble, recorded.policy)
                else:
                    await _record_written(recording, row, attempt, question)

            await self._recorder.outcome(run.id, fence, claim, AttemptState.STARTED, record)

    async def judge(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Judge attempt `number` and record the verdict; the text is not written again."""
        run, question = recorded.run, question_of(recorded.run)
        claim = next(each.claim for each in recorded.attempts if each.number == number)
        with logfire.span("judge answer attempt {number}", number=number):
            await self._begin(recorded, number, claim, fence)
            *earlier, now = await self._load(run.id, question, number)
            before = earlier[-1] if earlier else None
            async with self._workshop.open(run, evidence=False) as parts:
                judged = await _steps(question, parts).judge(now, before)

            async def record(recording: Recording, row: Attempt) -> None:
                said = judged.judged
                trouble = (
                    ModelTrouble.of(said.kind, judged.trouble, said.retry_at, _EVALUATOR) if said else None
                )
                if said is not None and trouble is not None:
                    used = Usage.model_validate(asdict(said.usage))
                    await charge(recording, row, ModelRole.JUDGE, used)
                    await lay_down_for(recording, row, trouble, recorded.policy)
                else:
                    await _record_judged(recording, row, judged, question)

            await self._recorder.outcome(run.id, fence, claim, AttemptState.EVALUATING, record)

    async def _write(self, recorded: Recorded, question: AnswerQuestion, number: int) -> AnswerAttempt:
        earlier = await self._load(recorded.run.id, question, number - 1)
        before = earlier[-1] if earlier else None
        entries = before.entries if before else question.entries
        try:
            async with self._workshop.open(recorded.run, evidence=True) as parts:
                if before is None and parts.evidence is not None:
                    found = await parts.evidence.first(question.query)
                    entries = (*entries, *(each for each in found if each not in entries))
                return await _steps(question, parts, said_by_humans(recorded)).write(number, entries, before)
        except (WorkspaceError, NotFoundError, OSError) as error:
            if is_outage(error):
                raise
            return AnswerAttempt(
                number, entries, Synthesis(None, reasons=(f"the workspace cannot be used: {error}",))
            )

    async def _open(self, recorded: Recorded, number: int, fence: Fence) -> UUID:
        """Claim an attempt: a new one, or one whose worker died before there was an output."""
        run, claim = recorded.run, uuid4()
        prompt = told(run.goal, said_by_humans(recorded))
        async with self._recorder.open(run.id, fence) as recording:
            await claim_attempt(recording, recorded, number, claim, prompt)
        return claim

    async def _begin(self, recorded: Recorded, number: int, claim: UUID, fence: Fence) -> None:
        async with self._recorder.open_claimed(recorded.run.id, fence, claim) as (recording, row):
            if row.status == AttemptState.EVALUATING:
                row.lost_workers += 1
            row.status = AttemptState.EVALUATING
            end_wait(recording)
            recording.tell(EvaluationStartedData(evaluators=[EVALUATOR]), PHASE, number)

    async def _load(self, run_id: UUID, question: AnswerQuestion, last: int) -> list[AnswerAttempt]:
        async with self._sessions() as session:
            rows: Sequence[Attempt] = (
                await session.scalars(
                    select(Attempt)
                    .where(Attempt.run_id == run_id, Attempt.phase == PHASE, Attempt.number <= last)
                    .order_by(Attempt.number)
                )
            ).all()
        return [attempt_of(each, question.entries) for each in rows]


def _steps(question: AnswerQuestion, parts: AnswerParts, guidance: Sequence[str] = ()) -> AnswerSteps:
    return AnswerSteps(
        query=question.query,
        rules=question.rules,
        synthesizer=parts.synthesizer,
        evaluator=parts.evaluator,
        evidence=parts.evidence,
        guidance=guidance,
    )


async def _record_written(
    recording: Recording, row: Attempt, attempt: AnswerAttempt, question: AnswerQuestion
) -> None:
    keep_attempt(row, attempt, len(question.entries))
    forget_failures(row)
    await charge(recording, row, ModelRole.ANSWER, Usage.model_validate(row.usage))
    if attempt.trouble:
        row.completed_at = datetime.now(UTC)
        return
    written = RoleText(
        output=attempt.synthesis.answer or "",
        role="synthesizer",
        model=attempt.synthesis.model,
        spec=AgentSpec.model_validate(recording.run.agent),
    )
    store_written(recording, row, written)


async def _record_judged(
    recording: Recording, row: Attempt, attempt: AnswerAttempt, question: AnswerQuestion
) -> None:
    before = Usage.model_validate(row.usage)
    keep_attempt(row, attempt, len(question.entries))
    forget_failures(row)
    await charge(recording, row, ModelRole.JUDGE, attempt.usage.less(before))
    row.completed_at = datetime.now(UTC)
    if attempt.judged is None or attempt.judged.output is None:
        return
    result = quality_result(EVALUATOR, attempt.judged, attempt.judged.output, what="answer", asked="question")
    await store_verdict(recording, row, result.model_copy(update={"trace_id": current_trace_id()}))

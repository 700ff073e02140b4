"""The front door of answers: synthesize, judge, and retry with feedback, on the loop that sprints use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from app.runners.decision import (
    AttemptFacts,
    CompletePhase,
    Decision,
    Escalate,
    EscalationFacts,
    Evaluate,
    History,
    Spent,
    StartAttempt,
)
from app.runners.evaluators.models.response_prompt import merge_rules
from app.runners.evaluators.models.response_verdict import MAX_RETRIES
from app.runners.evaluators.response_evaluator import (
    Judged,
    get_all_issues,
    get_failed_dimensions,
    is_passed,
)
from app.runners.refinement import refine
from app.runners.synthesizer import Synthesis, SynthesisTask
from app.schemas.response_evaluation import EvaluationFeedback, EvaluatorInput, EvaluatorOutput
from app.schemas.runs import AttemptState, RunPolicy, RunStatus

PHASE = "answer"

NO_EVIDENCE = "No entries were found."
"""What the evaluator is told when there is no evidence: then every claim is unsupported."""


class Synthesizer(Protocol):
    """Writes answers."""

    async def synthesize(self, task: SynthesisTask) -> Synthesis:
        """Write one answer; trouble is a value."""
        ...


class ResponseEvaluator(Protocol):
    """Judges answers."""

    async def judge(self, given: EvaluatorInput) -> Judged:
        """Judge one answer; trouble is a value."""
        ...


class EvidenceSource(Protocol):
    """Finds more evidence."""

    async def more(self, query: str, gaps: Sequence[str], known: Sequence[str]) -> Sequence[str]:
        """Give entries that speak to the gaps and are not among those that are known; perhaps none."""
        ...


class AnswerStatus(StrEnum):
    """How a question ended. Only `ACCEPTED` was found good in all dimensions."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """One attempt: what was written, what was said about it, and how much evidence there was."""

    number: int
    synthesis: Synthesis
    judged: Judged | None = None
    entries: int = 0

    @property
    def output(self) -> EvaluatorOutput | None:
        """The judgement; None when there is none."""
        return self.judged.output if self.judged else None


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What a question came to.

    Attributes:
        status: accepted, partial, or unavailable when a model was out.
        answer: the text to deliver; None when there is none that may be delivered.
        gaps: what the answer lacks: its open issues, and the gaps of its analysis.
        withheld: no attempt kept the rules of safety, so none is delivered.
        reason: for people, when the answer was not accepted.
        attempts: all of them, in order.
    """

    status: AnswerStatus
    answer: str | None
    gaps: tuple[str, ...]
    withheld: bool
    reason: str
    attempts: tuple[AnswerAttempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRetry:
    """Answers questions: at most one attempt and `max_retries` retries, each told what was wrong before.

    Attributes:
        synthesizer: writes the answers.
        evaluator: judges them.
        evidence: asked when the accuracy fails for lack of data; None when there is no more to be had.
        max_retries: retries after the first attempt.
    """

    synthesizer: Synthesizer
    evaluator: ResponseEvaluator
    evidence: EvidenceSource | None = None
    max_retries: int = MAX_RETRIES

    async def answer(self, query: str, entries: Sequence[str], rules: Sequence[str] = ()) -> AnswerOutcome:
        """Answer a question from evidence.

        Args:
            query: what the user asks.
            entries: the evidence at hand; may be empty.
            rules: of the domain, beside the default ones.

        Raises:
            ValueError: the query is blank.
        """
        if not query.strip():
            raise ValueError("query must not be empty or blank")
        loop = _AnswerInMemory(self, query, entries, merge_rules((), {}, rules))
        await refine(loop.load, loop.carry_out)
        return loop.outcome()


class _AnswerInMemory:
    """The records of one question, kept in memory."""

    def __init__(self, door: ResponseRetry, query: str, entries: Sequence[str], rules: Sequence[str]) -> None:
        self._door = door
        self._query = query
        self._entries = [each for each in entries if each.strip()]
        self._rules = list(rules)
        self._policy = RunPolicy(max_attempts=door.max_retries + 1)
        self._facts: dict[int, AttemptFacts] = {}
        self._attempts: dict[int, AnswerAttempt] = {}
        self._phase: str | None = PHASE
        self._status = RunStatus.ACTIVE
        self._escalation: EscalationFacts | None = None
        self._trouble = ""

    async def load(self) -> tuple[History, RunPolicy]:
        history = History(
            status=self._status,
            phases=(PHASE,),
            phase=self._phase,
            attempts=tuple(self._facts.values()),
            escalations=(self._escalation,) if self._escalation else (),
            spent=Spent(),
            now=datetime.now(UTC),
        )
        return history, self._policy

    async def carry_out(self, decision: Decision) -> None:
        match decision:
            case StartAttempt(_, number):
                await self._synthesize(number)
            case Evaluate(_, number):
                await self._judge(number)
            case CompletePhase():
                self._phase = None
            case Escalate(_, number, reason, _):
                self._escalation = EscalationFacts(number, reason)
            case _:
                pass

    async def _synthesize(self, number: int) -> None:
        before = self._attempts.get(number - 1)
        if before is not None:
            await self._gather(before)
        task = SynthesisTask(
            query=self._query,
            entries=tuple(self._entries),
            rules=self._rules,
            attempt_number=number,
            previous_answer=(before.synthesis.answer or "") if before else "",
            feedback=self._feedback_before(number),
        )
        synthesis = await self._door.synthesizer.synthesize(task)
        self._attempts[number] = AnswerAttempt(number, synthesis, entries=len(self._entries))
        if synthesis.answer is None or not synthesis.answer.strip():
            self._stop("; then ".join(synthesis.reasons) or "the answer was empty")
            return
        self._facts[number] = AttemptFacts(number, AttemptState.PRODUCED)

    async def _gather(self, before: AnswerAttempt) -> None:
        output, source = before.output, self._door.evidence
        if output is None or source is None or output.recommendation != "retry_with_more_context":
            return
        gaps = _gaps(before)
        found = await source.more(self._query, gaps, tuple(self._entries))
        self._entries += [each for each in found if each.strip() and each not in self._entries]

    async def _judge(self, number: int) -> None:
        attempt = self._attempts[number]
        given = EvaluatorInput(
            query=self._query,
            response=attempt.synthesis.answer or "",
            analysis=attempt.synthesis.analysis,
            entries_summary="\n\n".join(self._entries) or NO_EVIDENCE,
            evaluation_rules=self._rules,
            attempt_number=number,
            previous_feedback=self._feedback_before(number),
        )
        judged = await self._door.evaluator.judge(given)
        self._attempts[number] = replace(attempt, judged=judged)
        if judged.output is None:
            self._stop("; then ".join(judged.reasons) or "the evaluator reached no verdict")
            return
        state = AttemptState.PASSED if is_passed(judged.output) else AttemptState.FAILED
        self._facts[number] = replace(self._facts[number], state=state)

    def _feedback_before(self, number: int) -> list[EvaluationFeedback]:
        before = self._attempts.get(number - 1)
        return list(before.output.feedback) if before and before.output else []

    def _stop(self, reason: str) -> None:
        """End the question: an outage outlasted the quick retries and the fallback model."""
        self._trouble = reason
        self._status = RunStatus.FAILED

    def outcome(self) -> AnswerOutcome:
        attempts = tuple(self._attempts.values())
        last = attempts[-1]
        if last.output is not None and is_passed(last.output):
            return AnswerOutcome(AnswerStatus.ACCEPTED, last.synthesis.answer, (), False, "", attempts)
        judged = [each for each in attempts if each.output is not None]
        best = _best(judged)
        status = AnswerStatus.UNAVAILABLE if self._trouble else AnswerStatus.PARTIAL
        failed = ", ".join(get_failed_dimensions(last.output)) if last.output else ""
        reason = self._trouble or f"{last.number} attempts were not good enough in: {failed}"
        return AnswerOutcome(
            status=status,
            answer=best.synthesis.answer if best else None,
            gaps=_gaps(best or judged[-1]) if judged else (),
            withheld=bool(judged) and best is None,
            reason=reason,
            attempts=attempts,
        )


def _best(attempts: Sequence[AnswerAttempt]) -> AnswerAttempt | None:
    """Give the safe attempt with the fewest failed dimensions, of equals the latest; perhaps none."""
    failed = {each.number: get_failed_dimensions(each.output) for each in attempts if each.output}
    safe = [each for each in attempts if "safety" not in failed[each.number]]
    return min(safe, key=lambda each: (len(failed[each.number]), -each.number), default=None)


def _gaps(attempt: AnswerAttempt) -> tuple[str, ...]:
    output = attempt.output
    if output is None:
        return tuple(attempt.synthesis.analysis.gaps)
    issues = get_all_issues(output) or [each.issue for each in output.feedback]
    return tuple(dict.fromkeys([*issues, *attempt.synthesis.analysis.gaps]))

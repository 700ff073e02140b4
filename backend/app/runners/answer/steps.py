"""The steps of an answer: gather evidence, write, evaluate. The driver may stop between any two.

The in-memory driver in `response_retry` and the service's recorded runs take the same steps.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Protocol

from app.runners.answer.synthesizer import Synthesis, SynthesisTask
from app.runners.evaluators.models.response_verdict import MAX_RETRIES
from app.runners.evaluators.response_evaluator import (
    ResponseJudgement,
    get_all_issues,
    get_failed_dimensions,
    is_passed,
)
from app.schemas.response_evaluation import EvaluationFeedback, EvaluatorInput, EvaluatorOutput
from app.schemas.runs import AttemptState, RunPolicy, Usage, WhenExhausted

PHASE = "answer"

NO_EVIDENCE = "No entries were found."
"""The evidence summary that the evaluator gets if there is no evidence. Every claim is then unsupported."""

NOT_JUDGED = "the answer was not judged"
"""The reason of an answer that a person accepted before its evaluator reached a verdict."""


class Synthesizer(Protocol):
    """Writes answers."""

    async def synthesize(self, task: SynthesisTask) -> Synthesis:
        """Write one answer. Trouble is returned in the synthesis, not raised."""
        ...


class ResponseEvaluator(Protocol):
    """Judges answers."""

    async def judge(self, given: EvaluatorInput) -> ResponseJudgement:
        """Judge one answer. Trouble is returned in the result, not raised."""
        ...


class EvidenceSource(Protocol):
    """Finds more evidence."""

    async def more(self, query: str, gaps: Sequence[str], known: Sequence[str]) -> Sequence[str]:
        """Return entries that match the gaps and are not in `known`. The list may be empty."""
        ...


class AnswerStatus(StrEnum):
    """How an answer ended. Only an `ACCEPTED` one passed in all dimensions."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """One attempt at an answer.

    Attributes:
        number: counts from 1.
        entries: the evidence that the synthesizer had.
        synthesis: the written answer with its analysis.
        judged: the evaluator's result; None until the attempt is judged.
    """

    number: int
    entries: tuple[str, ...]
    synthesis: Synthesis
    judged: ResponseJudgement | None = None

    @property
    def output(self) -> EvaluatorOutput | None:
        """The judgement, or None if there is none."""
        return self.judged.output if self.judged else None

    @property
    def trouble(self) -> str:
        """Why the attempt failed to produce a judged answer; `""` if it was judged or can still be judged."""
        if not (self.synthesis.answer or "").strip():
            return "; then ".join(self.synthesis.reasons) or "the answer was empty"
        if self.judged is not None and self.judged.output is None:
            return "; then ".join(self.judged.reasons) or "the evaluator reached no verdict"
        return ""

    @property
    def usage(self) -> Usage:
        """The tokens and cost of writing and judging together."""
        parts = [self.synthesis.usage, *([self.judged.usage] if self.judged else [])]
        return Usage.total(Usage.model_validate(asdict(each)) for each in parts)

    @property
    def state(self) -> AttemptState:
        """How far the attempt has come. An attempt in trouble counts as failed."""
        if self.trouble:
            return AttemptState.FAILED
        if self.output is None:
            return AttemptState.PRODUCED
        return AttemptState.PASSED if is_passed(self.output) else AttemptState.FAILED


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """The outcome of an answer.

    Attributes:
        status: accepted, partial, or unavailable if a model was unavailable.
        answer: the text to deliver; None if no attempt may be delivered.
        gaps: what the answer lacks: its open issues and the gaps in its analysis.
        withheld: true if nothing is delivered because no attempt kept the safety rules.
        reason: for people; set if the answer was not accepted.
        attempts: all attempts, in order.
    """

    status: AnswerStatus
    answer: str | None
    gaps: tuple[str, ...]
    withheld: bool
    reason: str
    attempts: tuple[AnswerAttempt, ...]


def answer_policy(policy: RunPolicy, max_retries: int = MAX_RETRIES) -> RunPolicy:
    """Return the policy of an answer. After the last retry, the run returns its best attempt in part."""
    figures = {"attempts_per_phase": max_retries + 1, "when_exhausted": WhenExhausted.RETURN_PARTIAL}
    return policy.model_copy(update=figures)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSteps:
    """Takes the steps of one answer. Earlier attempts are passed in, so the object keeps no state.

    Attributes:
        query: the user's query.
        rules: the rules that the answer must keep, default ones included.
        synthesizer: writes the answers.
        evaluator: judges the answers.
        evidence: asked for more when the accuracy fails for lack of data; None if there is no more evidence.
        guidance: reviewers' guidance for the synthesizer.
    """

    query: str
    rules: Sequence[str]
    synthesizer: Synthesizer
    evaluator: ResponseEvaluator
    evidence: EvidenceSource | None = None
    guidance: Sequence[str] = ()

    async def write(self, number: int, entries: Sequence[str], before: AnswerAttempt | None) -> AnswerAttempt:
        """Write attempt `number`.

        Args:
            number: counts from 1.
            entries: the evidence available so far.
            before: the previous attempt, judged; None for the first attempt.
        """
        at_hand = (*entries, *await self._more(entries, before))
        task = SynthesisTask(
            query=self.query,
            entries=at_hand,
            rules=self.rules,
            attempt_number=number,
            previous_answer=(before.synthesis.answer or "") if before else "",
            feedback=_feedback_of(before),
            guidance=self.guidance,
        )
        return AnswerAttempt(number, at_hand, await self.synthesizer.synthesize(task))

    async def judge(self, attempt: AnswerAttempt, before: AnswerAttempt | None) -> AnswerAttempt:
        """Judge an attempt that has an answer. `before` is the previous attempt."""
        given = EvaluatorInput(
            query=self.query,
            response=attempt.synthesis.answer or "",
            analysis=attempt.synthesis.analysis,
            entries_summary="\n\n".join(attempt.entries) or NO_EVIDENCE,
            evaluation_rules=list(self.rules),
            attempt_number=attempt.number,
            previous_feedback=_feedback_of(before),
        )
        return replace(attempt, judged=await self.evaluator.judge(given))

    async def _more(self, entries: Sequence[str], before: AnswerAttempt | None) -> list[str]:
        output = before.output if before else None
        if self.evidence is None or before is None or output is None:
            return []
        if output.recommendation != "retry_with_more_context":
            return []
        found = await self.evidence.more(self.query, gaps_of(before), tuple(entries))
        return [each for each in dict.fromkeys(found) if each.strip() and each not in entries]


def _feedback_of(before: AnswerAttempt | None) -> list[EvaluationFeedback]:
    return list(before.output.feedback) if before and before.output else []


def outcome_of(attempts: Sequence[AnswerAttempt]) -> AnswerOutcome:
    """Return the outcome of an answer from all its attempts, of which there is at least one.

    A last attempt that was never judged is one that a person accepted.
    """
    last = attempts[-1]
    if last.output is not None and is_passed(last.output):
        return AnswerOutcome(AnswerStatus.ACCEPTED, last.synthesis.answer, (), False, "", tuple(attempts))
    if last.output is None and not last.trouble:
        answer, gaps = last.synthesis.answer, gaps_of(last)
        return AnswerOutcome(AnswerStatus.PARTIAL, answer, gaps, False, NOT_JUDGED, tuple(attempts))
    judged = [each for each in attempts if each.output is not None]
    best = _best(judged)
    failed = ", ".join(get_failed_dimensions(last.output)) if last.output else ""
    return AnswerOutcome(
        status=AnswerStatus.UNAVAILABLE if last.trouble else AnswerStatus.PARTIAL,
        answer=best.synthesis.answer if best else None,
        gaps=gaps_of(best or judged[-1]) if judged else (),
        withheld=bool(judged) and best is None,
        reason=last.trouble or f"{_attempts(last.number)} not good enough in: {failed}",
        attempts=tuple(attempts),
    )


def _attempts(number: int) -> str:
    return "1 attempt was" if number == 1 else f"{number} attempts were"


def _best(attempts: Sequence[AnswerAttempt]) -> AnswerAttempt | None:
    """Return the safe attempt with the fewest failed dimensions, the latest among equals, or None."""
    failed = {each.number: get_failed_dimensions(each.output) for each in attempts if each.output}
    safe = [each for each in attempts if "safety" not in failed[each.number]]
    return min(safe, key=lambda each: (len(failed[each.number]), -each.number), default=None)


def gaps_of(attempt: AnswerAttempt) -> tuple[str, ...]:
    """Return what an attempt lacks: its open issues and the gaps in its analysis."""
    output = attempt.output
    if output is None:
        return tuple(attempt.synthesis.analysis.gaps)
    issues = get_all_issues(output) or [each.issue for each in output.feedback]
    return tuple(dict.fromkeys([*issues, *attempt.synthesis.analysis.gaps]))

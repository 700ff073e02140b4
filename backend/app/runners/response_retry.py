"""Checked answers for programs that use PhaseRunner as a library.

The service runs the same steps over recorded rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.runners.answer.steps import (
    NO_EVIDENCE,
    PHASE,
    AnswerAttempt,
    AnswerOutcome,
    AnswerStatus,
    AnswerSteps,
    EvidenceSource,
    ResponseEvaluator,
    Synthesizer,
    answer_policy,
    outcome_of,
)
from app.runners.decision import CompletePhase, Decision, Evaluate, StartAttempt
from app.runners.evaluators.models.response_prompt import merge_rules
from app.runners.evaluators.models.response_verdict import MAX_RETRIES
from app.runners.facts import AttemptFacts
from app.runners.in_memory import MemoryRecords
from app.runners.refinement import refine
from app.schemas.runs import AttemptClosing, RunPolicy, Usage

__all__ = [
    "NO_EVIDENCE",
    "AnswerAttempt",
    "AnswerOutcome",
    "AnswerStatus",
    "EvidenceSource",
    "ResponseEvaluator",
    "ResponseRetry",
    "Synthesizer",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRetry:
    """Answers queries: one attempt and at most `max_retries` retries, each with feedback on the one before.

    Attributes:
        synthesizer: writes the answers.
        evaluator: judges the answers.
        evidence: asked for more when the accuracy fails for lack of data; None if there is no more evidence.
        max_retries: retries after the first attempt.
    """

    synthesizer: Synthesizer
    evaluator: ResponseEvaluator
    evidence: EvidenceSource | None = None
    max_retries: int = MAX_RETRIES

    async def answer(self, query: str, entries: Sequence[str], rules: Sequence[str] = ()) -> AnswerOutcome:
        """Answer a query from evidence.

        Args:
            query: the user's query.
            entries: the evidence available; may be empty.
            rules: rules of the domain, besides the default ones.

        Raises:
            ValueError: the query is blank.
        """
        if not query.strip():
            raise ValueError("query must not be empty or blank")
        steps = AnswerSteps(
            query=query,
            rules=merge_rules((), {}, rules),
            synthesizer=self.synthesizer,
            evaluator=self.evaluator,
            evidence=self.evidence,
        )
        loop = _AnswerInMemory(steps, [each for each in entries if each.strip()], self.max_retries)
        await refine(loop.records.load, loop.carry_out)
        return outcome_of(loop.attempts)


class _AnswerInMemory:
    """Carries out the decisions for one query."""

    def __init__(self, steps: AnswerSteps, entries: Sequence[str], max_retries: int) -> None:
        self._steps = steps
        self._entries = entries
        self.records = MemoryRecords(PHASE, answer_policy(RunPolicy(), max_retries))
        self.attempts: list[AnswerAttempt] = []

    async def carry_out(self, decision: Decision) -> None:
        before = self.attempts[-1] if self.attempts else None
        match decision:
            case StartAttempt(_, number):
                entries = before.entries if before else self._entries
                self._record(number, await self._steps.write(number, entries, before))
            case Evaluate(_, number):
                earlier = self.attempts[number - 2] if number > 1 else None
                self._record(number, await self._steps.judge(self.attempts[-1], earlier))
            case CompletePhase():
                self.records.phase = None
            case _:
                pass

    def _record(self, number: int, attempt: AnswerAttempt) -> None:
        self.attempts[number - 1 :] = [attempt]
        self.records.attempts[number] = facts_of(attempt)
        self.records.usage = Usage.total(each.usage for each in self.attempts)


def facts_of(attempt: AnswerAttempt) -> AttemptFacts:
    """Return the facts for `decide`. An outage that outlasts retries and the fallback model ends the run."""
    closing = AttemptClosing.ERROR if attempt.trouble else None
    return AttemptFacts(attempt.number, attempt.state, error=attempt.trouble, closing=closing)

"""Decides whether a finding is one that a person accepted: same finding, same evaluator, unchanged.

Who accepts an escalated attempt accepts what its gates found. The phases after it judge the same work again,
and would ask the same question again. So a failed result does not block when

1. a human accepted a failed result of the same evaluator earlier in the run, and
2. everything it complains about is the same: what it says, its failed criteria and its suggestions, apart
   from line numbers, addresses, times and directories. One finding more, or fewer, is another finding.

A failed result that only asks questions (see `app.schemas.questions`) is covered when each of them was
accepted, in whatever results: to accept a changed test opens this change of this test, and no more.

The result stays failed, and says by whom it was accepted. A gate that reached no verdict is never covered.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.runners.evaluators.issues import hidden_finding, issue_key
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus

ACCEPTED = "accepted"
"""Member of a result's metadata: who accepted its finding, in which phase and attempt."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A failed result that a human let through.

    Attributes:
        evaluator: whose result it was.
        finding: its `finding_fingerprint`.
        by: who accepted it.
        phase: of the attempt that was accepted.
        attempt: its number.
        questions: keys of the questions that it asked.
    """

    evaluator: str
    finding: str
    by: str
    phase: str
    attempt: int
    questions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, result: EvaluationResult, *, by: str, phase: str, attempt: int) -> "Acceptance":
        """What accepting an attempt says about one of its failed results."""
        asked = frozenset(each.key for each in result.questions)
        return cls(result.evaluator_name, finding_fingerprint(result), by, phase, attempt, asked)


def finding_fingerprint(result: EvaluationResult) -> str:
    """Identify what one failed result complains about, in 64 hexadecimal digits."""
    failed = (f"{each.criterion}\x1f{issue_key(each.message)}" for each in result.failed_criteria)
    suggested = (issue_key(each) for each in result.suggestions)
    parts = (issue_key(result.feedback), *sorted(failed), "\x1d", *sorted(suggested), *hidden_finding(result))
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()


def covering(result: EvaluationResult, acceptances: Iterable[Acceptance]) -> Acceptance | None:
    """Return the acceptance that covers a result, the latest one of several; None when it counts."""
    if result.status is not EvaluationStatus.FAILED:
        return None
    acceptances = list(acceptances)
    asked = {each.key for each in result.questions}
    if asked:
        relevant = [each for each in acceptances if each.questions & asked]
        answered = frozenset[str]().union(*(each.questions for each in relevant))
        return relevant[-1] if asked <= answered else None
    finding = finding_fingerprint(result)
    mine = [
        each for each in acceptances if (each.evaluator, each.finding) == (result.evaluator_name, finding)
    ]
    return mine[-1] if mine else None


def signed(result: EvaluationResult, acceptances: Sequence[Acceptance]) -> EvaluationResult:
    """Return the result, saying by whom its finding was accepted if it was; only this function may say so."""
    found = covering(result, acceptances)
    others = {name: value for name, value in result.metadata.items() if name != ACCEPTED}
    if found is not None:
        others[ACCEPTED] = {"by": found.by, "phase": found.phase, "attempt": found.attempt}
    return result if others == result.metadata else result.model_copy(update={"metadata": others})


def is_signed(result: EvaluationResult) -> bool:
    """Whether a result says that its finding was accepted."""
    return ACCEPTED in result.metadata

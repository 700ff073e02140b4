"""Decides whether a reviewer already accepted a finding: the same finding of the same evaluator, unchanged.

A reviewer who accepts an escalated attempt accepts what its gates found. Later phases judge the same work
again and would ask the same question again. So a failed result does not block if

1. a reviewer accepted a failed result of the same evaluator earlier in the run, and
2. its complaint is the same: its feedback, failed criteria and suggestions, apart from line numbers,
    addresses,
   times and directories. With one finding more, or one fewer, it is another complaint.

A failed result that only asks questions (see `app.schemas.questions`) is covered if each of them was
accepted, in any results. Accepting a changed test opens only this change of this test.

The result stays failed, and names who accepted it. A gate that reached no verdict is never covered.
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
    """A failed result that a reviewer accepted.

    Attributes:
        evaluator: the evaluator of the result.
        finding: its `finding_fingerprint`.
        by: who accepted it.
        phase: the phase of the accepted attempt.
        attempt: the number of the accepted attempt.
        questions: keys of the result's questions.
    """

    evaluator: str
    finding: str
    by: str
    phase: str
    attempt: int
    questions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, result: EvaluationResult, *, by: str, phase: str, attempt: int) -> "Acceptance":
        """Return the acceptance of one of an attempt's failed results."""
        asked = frozenset(each.key for each in result.questions)
        return cls(result.evaluator_name, finding_fingerprint(result), by, phase, attempt, asked)


def finding_fingerprint(result: EvaluationResult) -> str:
    """Return the fingerprint of one failed result's complaint, as 64 hexadecimal digits."""
    failed = (f"{each.criterion}\x1f{issue_key(each.message)}" for each in result.failed_criteria)
    suggested = (issue_key(each) for each in result.suggestions)
    parts = (issue_key(result.feedback), *sorted(failed), "\x1d", *sorted(suggested), *hidden_finding(result))
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()


def covering(result: EvaluationResult, acceptances: Iterable[Acceptance]) -> Acceptance | None:
    """Return the latest acceptance that covers a result, or None if the result counts."""
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
    """Return the result, marked with who accepted its finding, if anyone did.

    Only this function may set the mark.
    """
    found = covering(result, acceptances)
    others = {name: value for name, value in result.metadata.items() if name != ACCEPTED}
    if found is not None:
        others[ACCEPTED] = {"by": found.by, "phase": found.phase, "attempt": found.attempt}
    return result if others == result.metadata else result.model_copy(update={"metadata": others})


def is_signed(result: EvaluationResult) -> bool:
    """Return True if a result is marked as accepted."""
    return ACCEPTED in result.metadata

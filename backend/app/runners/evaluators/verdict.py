"""Derives the verdict on an attempt from a panel's results. Pure; every rule of a pass is in this file.

1. A gate that is missing from the results, or that reached no verdict, leaves the attempt unjudged: errored.
2. A pass needs evidence: if no gate really checked something, the attempt is unjudged, too.
3. A failed gate, a gate's blocking issue, or a mean score of the gates below the threshold fails it.
4. Advisory results never decide.
5. A failed gate that only asks questions about changed tests decides nothing by itself: if everything else
   passes, the attempt waits for a person, and uses up no attempt.
6. A failed gate with a finding that a reviewer accepted earlier in the run (see `acceptance`) decides
    nothing.
   The reason names it. Its score stands for the attempt's only if no other gate checked anything.
7. An observed gate never decides. A pass names those that would have blocked it. If no other gate checked
   anything, the attempt passes, and the reason says that no gate decided.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from app.runners.evaluators.acceptance import Acceptance, covering
from app.runners.evaluators.protocol import BLOCKING_THRESHOLD, EvaluationResult, EvaluationStatus
from app.schemas import defaults
from app.schemas.questions import ASKED, Question

_ROUNDING = 1e-9
"""Tolerance for a mean of floats that misses the threshold by a rounding error."""


class VerdictStatus(StrEnum):
    """The verdict on an attempt.

    `ERRORED`: it is not judged yet and uses up no attempt. `ASKS`: only a question to a person is open.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    ASKS = "asks"


@dataclass(frozen=True, slots=True)
class VerdictPolicy:
    """Thresholds in [0, 1]: of the gates' mean score, and of the score below which a criterion blocks."""

    pass_threshold: float = defaults.PASS_THRESHOLD
    blocking_threshold: float = BLOCKING_THRESHOLD


@dataclass(frozen=True, slots=True)
class PanelVerdict:
    """The verdict on one attempt.

    Attributes:
        status: passed, failed, errored or asks.
        score: mean score of the gates that checked something; 0.0 if none did.
        failed_gates: names of the gates that failed, in the order of the results.
        errored_gates: names of the gates that are missing or reached no verdict.
        blocking_issues: messages of the gates' failed criteria below the blocking threshold.
        reason: one or a few sentences for people.
        advisory: results that did not decide.
        accepted: names of the gates that failed with a finding that a reviewer had accepted.
        questions: the questions for a person, each once.
        would_block: names of the observed gates that failed or reached no verdict.
    """

    status: VerdictStatus
    score: float
    failed_gates: tuple[str, ...]
    errored_gates: tuple[str, ...]
    blocking_issues: tuple[str, ...]
    reason: str
    advisory: tuple[EvaluationResult, ...]
    accepted: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    would_block: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if the attempt may go on to the next phase."""
        return self.status is VerdictStatus.PASSED


def judge(
    results: Iterable[EvaluationResult],
    gates: Collection[str],
    policy: VerdictPolicy | None = None,
    acceptances: Sequence[Acceptance] = (),
    observed: Collection[str] = (),
) -> PanelVerdict:
    """Judge an attempt.

    Args:
        results: the panel's results, of gates and advisory evaluators.
        gates: names of the evaluators that are gates of the phase; each must be among the results.
        policy: thresholds; None means the defaults.
        acceptances: what reviewers accepted earlier in the run.
        observed: names of the gates that are only observed in the phase; none is among `gates`.
    """
    policy = policy or VerdictPolicy()
    every = list(results)
    decisive = [each for each in every if each.evaluator_name in gates]
    forgiven = {each.evaluator_name: by for each in decisive if (by := covering(each, acceptances))}
    asking = [each for each in decisive if each.evaluator_name not in forgiven and each.questions]
    aside = {*forgiven, *_names(asking)}
    counted = [each for each in decisive if each.evaluator_name not in aside]
    present = {each.evaluator_name for each in decisive}
    missing = [name for name in gates if name not in present]
    errored = [each for each in counted if each.status is EvaluationStatus.ERRORED]
    failed = [each for each in counted if each.status is EvaluationStatus.FAILED]
    blocking = tuple(
        issue for each in counted for issue in each.blocking_issues_below(policy.blocking_threshold)
    )
    score = _score(counted)
    would_block = _names(each for each in every if each.evaluator_name in observed and not each.passed)
    if missing or errored:
        status, reason = VerdictStatus.ERRORED, _no_verdict(missing, errored)
    elif score is None and observed and not forgiven and not asking:
        status, reason = VerdictStatus.PASSED, "No gate decided anything: the others are observed"
    else:
        status, reason = _decide(failed, blocking, score, forgiven, asking, policy)
    if status is VerdictStatus.PASSED and would_block:
        reason = f"{reason}. Observed, would have blocked: {', '.join(would_block)}"
    return PanelVerdict(
        status=status,
        score=_score(decisive) or 0.0 if score is None else score,
        failed_gates=_names([*failed, *asking]),
        errored_gates=tuple(dict.fromkeys((*missing, *_names(errored)))),
        blocking_issues=blocking,
        reason=reason,
        advisory=tuple(each for each in every if each.evaluator_name not in gates),
        accepted=tuple(forgiven),
        questions=questions_of(asking),
        would_block=would_block,
    )


def questions_of(results: Iterable[EvaluationResult]) -> tuple[Question, ...]:
    """Return the questions in results. Of several forms of one question, return the most informative."""
    found: dict[str, Question] = {}
    for each in (asked for result in results for asked in result.questions):
        known = found.get(each.key)
        if known is None or len(each.why) > len(known.why):
            found[each.key] = each
    return tuple(found.values())


def question_words(questions: Sequence[Question]) -> str:
    """Return questions as one line for people: the only one, or the first and how many more there are."""
    if not questions:
        return ""
    more = f" (and {len(questions) - 1} more like it)" if len(questions) > 1 else ""
    text = questions[0].text
    return f"{ASKED}{text[:1].upper()}{text[1:]}{more}"


def _score(gates: Iterable[EvaluationResult]) -> float | None:
    """Return the mean score of the gates that checked something, or None if none did."""
    scores = [
        each.score for each in gates if each.status in (EvaluationStatus.PASSED, EvaluationStatus.FAILED)
    ]
    return fmean(scores) if scores else None


def _no_verdict(missing: Sequence[str], errored: Iterable[EvaluationResult]) -> str:
    reasons = [f"{name} returned no result" for name in missing]
    return "; ".join(
        [*reasons, *(f"{each.evaluator_name} reached no verdict: {each.feedback}" for each in errored)]
    )


def _decide(
    failed: Sequence[EvaluationResult],
    blocking: Sequence[str],
    score: float | None,
    forgiven: Mapping[str, Acceptance],
    asking: Sequence[EvaluationResult],
    policy: VerdictPolicy,
) -> tuple[VerdictStatus, str]:
    if score is None and not forgiven and not asking:
        return VerdictStatus.ERRORED, "No gate checked anything, so there is no reason to pass"
    if failed:
        return VerdictStatus.FAILED, "Failed: " + ", ".join(_names([*failed, *asking]))
    if blocking:
        return VerdictStatus.FAILED, "Blocking: " + "; ".join(blocking)
    if score is not None and score < policy.pass_threshold - _ROUNDING:
        return (
            VerdictStatus.FAILED,
            f"Every gate passed, but their mean score {score:.2f} is below {policy.pass_threshold:.2f}",
        )
    if asking:
        return VerdictStatus.ASKS, question_words(questions_of(asking))
    if forgiven:
        named = "; ".join(f"{name}: accepted by {each.by} in {each.phase}" for name, each in forgiven.items())
        return VerdictStatus.PASSED, f"Every gate holds, except for what a person accepted ({named})"
    return VerdictStatus.PASSED, "Every gate holds"


def _names(results: Iterable[EvaluationResult]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.evaluator_name for each in results))

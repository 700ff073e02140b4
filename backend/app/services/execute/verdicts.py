"""Records the outcome of an attempt's evaluation; each function is part of a caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.events.evaluations import EvaluationCompletedData, EvaluationData, EvaluationFailedData
from app.db.models import Attempt, Candidate
from app.jobs.queue import enqueue_advance
from app.runners.evaluators.models.outage import ModelOutage
from app.runners.evaluators.panel import judges_usage
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.verdict import PanelVerdict
from app.runners.phase_panel import PhasePanel, fingerprint_of
from app.runners.retry_limits import backoff_seconds, rest_until
from app.schemas.runs import AttemptState, ModelRole, RunPolicy
from app.services.record.evaluations import store_evaluations
from app.services.record.ledger import charge
from app.services.record.transactions import Recording
from app.services.record.waiting import forget_failures, rest_for_model


@dataclass(frozen=True, slots=True)
class JudgedCandidate:
    """A candidate with its results and its verdict."""

    candidate: Candidate
    results: list[EvaluationResult]
    verdict: PanelVerdict


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """Why an evaluation reached no verdict.

    Attributes:
        reason: the reason in words for people.
        gates: the gates that reached no verdict.
        judged: candidates whose judging is charged.
        kept: candidates whose results are stored.
        outage: the outage of the evaluators' models, if that alone is the reason.
    """

    reason: str
    gates: Sequence[str] = ()
    judged: Sequence[JudgedCandidate] = ()
    kept: Sequence[JudgedCandidate] = ()
    outage: ModelOutage | None = None


def evaluation_data(panel: PhasePanel, phase: str, result: EvaluationResult) -> EvaluationData:
    """Return the event data of one result."""
    return EvaluationData(
        evaluator_name=result.evaluator_name,
        category=result.category.value,
        passed=result.passed,
        score=result.score,
        feedback=result.feedback,
        suggestions=result.suggestions,
        status=result.status.value,
        gate=result.evaluator_name in panel.get_evaluator_registry().gates(phase),
        observed=result.evaluator_name in panel.get_evaluator_registry().observed(phase),
        duration_ms=result.duration_ms,
    )


async def record_verdict(
    recording: Recording,
    row: Attempt,
    panel: PhasePanel,
    judged: Sequence[JudgedCandidate],
    chosen: JudgedCandidate,
) -> None:
    """Record the results of all candidates, and the verdict on the chosen one as the attempt's."""
    verdict = chosen.verdict
    await _store(recording, panel, row.phase, judged)
    row.status = AttemptState.PASSED if verdict.passed else AttemptState.FAILED
    row.verdict = verdict.status.value
    row.verdict_reason = verdict.reason
    row.score = verdict.score
    row.completed_at = datetime.now(UTC)
    row.not_before = None
    forget_failures(row)
    row.fingerprint = None if verdict.passed else fingerprint_of(chosen.results, verdict)
    _adopt(row, chosen.candidate)
    await _pay(recording, row, judged)
    data = EvaluationCompletedData(
        phase=row.phase,
        attempt=row.number,
        overall_passed=verdict.passed,
        evaluations=[evaluation_data(panel, row.phase, each) for each in chosen.results],
        score=verdict.score,
        reason=verdict.reason,
    )
    recording.tell(data, row.phase, row.number)


async def record_no_verdict(
    recording: Recording, row: Attempt, panel: PhasePanel, trouble: NoVerdict, policy: RunPolicy
) -> None:
    """Record that there is no verdict, and repeat the evaluation after a pause if the policy allows it.

    An unavailable model has a separate counter, as for agents.
    """
    await _store(recording, panel, row.phase, trouble.kept)
    await _pay(recording, row, trouble.judged)
    row.status = AttemptState.PRODUCED
    row.last_error = row.verdict_reason = trouble.reason
    if trouble.outage is None:
        failures, pause = await _count_failure(recording, row, policy)
    else:
        failures, pause = await _wait(recording, row, trouble.outage, policy)
    data = EvaluationFailedData(
        reason=trouble.reason,
        evaluators=list(trouble.gates),
        failures=failures,
        retry_in_seconds=pause,
    )
    recording.tell(data, row.phase, row.number)


async def _count_failure(recording: Recording, row: Attempt, policy: RunPolicy) -> tuple[int, float | None]:
    """Return the number of failures so far and the seconds until the evaluation is repeated.

    The second value is None if a person must be asked instead.
    """
    forget_failures(row)
    row.evaluation_failures += 1
    if row.evaluation_failures >= policy.max_evaluation_failures:
        return row.evaluation_failures, None
    row.not_before = rest_until(row.evaluation_failures, policy, datetime.now(UTC))
    await enqueue_advance(recording.session, row.run_id, at=row.not_before)
    return row.evaluation_failures, backoff_seconds(row.evaluation_failures, policy)


async def _wait(
    recording: Recording, row: Attempt, outage: ModelOutage, policy: RunPolicy
) -> tuple[int, float | None]:
    whose = f"the model of {', '.join(outage.evaluators)}"
    rest = await rest_for_model(recording, row, policy, outage.retry_at, whose)
    if rest.until is None:
        return row.unavailable_failures, None
    return row.unavailable_failures, max(0.0, (rest.until - datetime.now(UTC)).total_seconds())


async def _store(
    recording: Recording, panel: PhasePanel, phase: str, judged: Sequence[JudgedCandidate]
) -> None:
    results = {each.candidate.id: each.results for each in judged}
    registry = panel.get_evaluator_registry()
    gates, observed = frozenset(registry.gates(phase)), registry.observed(phase)
    await store_evaluations(recording.session, results, gates, observed)


async def _pay(recording: Recording, row: Attempt, judged: Sequence[JudgedCandidate]) -> None:
    usage = judges_usage([result for each in judged for result in each.results])
    await charge(recording, row, ModelRole.JUDGE, usage)


def _adopt(row: Attempt, candidate: Candidate) -> None:
    row.chosen_candidate = candidate.index
    row.output = candidate.output
    row.head_commit = candidate.head_commit
    row.tree = candidate.tree
    row.changed_files = candidate.changed_files

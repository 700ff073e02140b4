"""Records attempts whose output is a text: one candidate without a commit, and one verdict on it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from app.core.events.attempts import AttemptProducedData
from app.core.events.evaluations import EvaluationCompletedData, EvaluationData
from app.db.models import Attempt, Candidate
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.agents import AgentSpec, agent_label
from app.schemas.runs import Usage
from app.schemas.text import storable_json, storable_text
from app.services.record.evaluations import store_evaluations
from app.services.record.transactions import Recording

MAX_CHARS = 2_000
"""The longest text in an event, in characters."""


@dataclass(frozen=True, slots=True)
class RoleText:
    """The text of one role in a loop or an answer.

    Attributes:
        output: the text.
        role: the writer, such as `director`.
        model: the model that wrote it; empty if unknown.
        spec: the run's agent; with a script, the script plays the role.
        seconds: wall-clock time.
    """

    output: str
    role: str
    model: str | None
    spec: AgentSpec
    seconds: float = 0.0


def store_written(recording: Recording, row: Attempt, written: RoleText) -> None:
    """Store a text as the attempt's only candidate, and record the event."""
    scripted = written.spec.script is not None
    row.head_commit = row.base_commit
    row.chosen_candidate = 0
    row.produced_at = datetime.now(UTC)
    candidate = Candidate(
        attempt_id=row.id,
        index=0,
        agent="scripted (no model)" if scripted else written.role,
        provider="scripted" if scripted else "model",
        model=None if scripted else written.model or written.spec.model,
        output=written.output,
        metrics={**row.usage, "seconds": written.seconds},
        head_commit=row.base_commit,
    )
    recording.session.add(candidate)
    data = AttemptProducedData(
        commit=row.base_commit,
        output=storable_text(written.output[:MAX_CHARS]),
        changed_files=[],
        usage=Usage.model_validate(row.usage),
        agent=agent_label(written.spec),
        model=candidate.model,
    )
    recording.tell(data, row.phase, row.number)


async def store_verdict(recording: Recording, row: Attempt, result: EvaluationResult) -> None:
    """Store the only verdict on an attempt's text, which decides the attempt, and record the event."""
    statement = select(Candidate.id).where(Candidate.attempt_id == row.id, Candidate.index == 0)
    candidate = (await recording.session.execute(statement)).scalar_one()
    stored = result.model_copy(
        update={"feedback": storable_text(result.feedback), "metadata": storable_json(result.metadata)}
    )
    await store_evaluations(recording.session, {candidate: [stored]}, {stored.evaluator_name})
    row.verdict = stored.status.value
    row.verdict_reason = stored.feedback
    row.score = stored.score
    told = EvaluationData(
        evaluator_name=stored.evaluator_name,
        category=stored.category.value,
        passed=stored.passed,
        score=stored.score,
        feedback=stored.feedback,
        status=stored.status.value,
        gate=True,
        duration_ms=stored.duration_ms,
    )
    data = EvaluationCompletedData(
        phase=row.phase,
        attempt=row.number,
        overall_passed=stored.passed,
        evaluations=[told],
        score=stored.score,
        reason=stored.feedback[:MAX_CHARS],
    )
    recording.tell(data, row.phase, row.number)

"""All that a reviewer needs for a decision."""

from uuid import UUID

from pydantic import Field

from app.schemas.api.answers import AnswerResult
from app.schemas.api.attempts import AttemptView, EvaluationView
from app.schemas.api.escalations import EscalationView
from app.schemas.api.evaluators import TrackRecord
from app.schemas.api.policies import PolicyView
from app.schemas.api.runs import RunView


class EscalationDetail(EscalationView):
    """An escalation with its run, attempts and track records.

    Attributes:
        run: the run in its present state, with its usage.
        sprint: the same, by its former name.
        policy: the figures that decide the run, such as its budget.
        attempt_id: the escalated attempt; null if the phase had not started.
        failing: what failed or reached no verdict there, gates first, with criteria and evidence.
        attempts: every attempt of the phase, in order, with its verdicts.
        earlier: the run's other escalations, oldest first.
        track_records: of each evaluator that judged the escalated attempt, in the order of its verdicts.
        can_accept: whether there is output that can be accepted.
        would_open: protected files that the attempt changed; accepting opens them for the rest of the run.
        open_paths: paths that are already open.
        would_give: what an answer would result in if it were accepted now; null for other kinds, for a
            decided escalation, and if no attempt was judged.
    """

    run: RunView
    sprint: RunView = Field(json_schema_extra={"deprecated": True})
    policy: PolicyView
    attempt_id: UUID | None
    failing: list[EvaluationView]
    attempts: list[AttemptView]
    earlier: list[EscalationView]
    track_records: list[TrackRecord]
    can_accept: bool = Field(description="False until the agent has produced something.")
    would_open: list[str]
    open_paths: list[str]
    would_give: AnswerResult | None = None

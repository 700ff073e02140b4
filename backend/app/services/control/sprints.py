"""Sprints: how one is made of a request, and shown."""

from app.schemas.api.runs import RunDetail
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunKind, RunPolicy
from app.services.control.intake import Intake, NewRun
from app.services.control.kinds import RunsOfKind
from app.services.control.policies import with_overrides
from app.services.read.runs import show_run

SprintService = RunsOfKind[SprintCreate, RunDetail]


def sprint_service(intake: Intake, defaults: RunPolicy) -> SprintService:
    """Make the service that starts and shows sprints.

    Args:
        intake: takes runs in.
        defaults: the policy of a sprint that names nothing else.
    """

    def prepare(request: SprintCreate, actor: str) -> NewRun:
        return NewRun(
            kind=RunKind.SPRINT,
            phases=[each.value for each in request.phases],
            source=request.source,
            goal=request.goal,
            name=request.name,
            policy=with_overrides(defaults, request.policy),
            agent=request.agent,
            held_out=request.held_out,
            actor=actor,
        )

    return RunsOfKind(kind=RunKind.SPRINT, prepare=prepare, view=show_run, intake=intake)

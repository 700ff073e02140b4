"""Creates sprints from requests, and shows them."""

from collections.abc import Callable

from app.schemas.api.run_details import RunDetail
from app.schemas.api.sprints import SprintCreate
from app.schemas.forges import ForgeOrigin
from app.schemas.runs import RunKind, RunPolicy
from app.schemas.workspaces import WorkspaceSource
from app.services.control.intake import Intake, NewRun
from app.services.control.kinds import RunsOfKind
from app.services.control.policies import with_overrides
from app.services.read.runs import show_run

SprintService = RunsOfKind[SprintCreate, RunDetail]


OriginOf = Callable[[WorkspaceSource], ForgeOrigin | None]
"""Returns the place of a source on a forge, or None."""


def _no_origin(source: WorkspaceSource) -> None:
    """Return None: without forges, no source has a place on one."""


def sprint_service(intake: Intake, defaults: RunPolicy, origin_of: OriginOf = _no_origin) -> SprintService:
    """Return the service that starts and shows sprints.

    Args:
        intake: starts runs.
        defaults: the policy for whatever the request leaves out.
        origin_of: finds the place of a source on a forge.
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
            origin=origin_of(request.source),
        )

    return RunsOfKind(kind=RunKind.SPRINT, prepare=prepare, view=show_run, intake=intake)

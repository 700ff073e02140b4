"""Starts sprints for issues of a forge."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.errors import ConflictError, UnavailableError, WorkspaceError
from app.forges.goals import goal_of, name_of_issue
from app.forges.port import Forge, ForgeError, ForgesByName, Issue
from app.forges.repositories import Member, Members
from app.schemas.agents import AgentSpec
from app.schemas.api.forges import IssueSprintCreate
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.run_details import RunDetail
from app.schemas.api.sprints import DEFAULT_PHASES, SprintCreate
from app.schemas.forges import ForgeOrigin
from app.schemas.held_out import HeldOutInput
from app.schemas.runs import Phase
from app.schemas.workspaces import GitSource
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.sprints import SprintService

_MAX_NAME = 200


def sprint_for(
    member: Member,
    issue: Issue,
    *,
    agent: AgentSpec,
    policy: PolicyOverrides,
    name: str | None = None,
    phases: Sequence[Phase] = DEFAULT_PHASES,
    held_out: HeldOutInput | None = None,
) -> SprintCreate:
    """Return the request for an issue's sprint: its text is the goal, its repository the source."""
    return SprintCreate(
        goal=goal_of(issue.title, issue.body),
        name=name or name_of_issue(issue.number, issue.title)[:_MAX_NAME],
        source=GitSource(url=member.clone_url, credential=member.forge.credential),
        phases=list(phases),
        agent=agent,
        policy=policy,
        held_out=held_out,
    )


class IssueService:
    """Starts sprints for issues.

    Args:
        sprints: starts sprints.
        members: the repositories that take part.
        forges: adapters by name.
    """

    def __init__(self, sprints: SprintService, members: Members, forges: ForgesByName) -> None:
        self._sprints = sprints
        self._members = members
        self._forges = forges

    async def start(
        self,
        request: IssueSprintCreate,
        actor: str,
        once: Once = UNKEYED,
        trigger: str | None = None,
        guidance: Sequence[str] = (),
    ) -> RunDetail:
        """Read the issue, and start a sprint with its text as the goal and its repository as the source.

        Args:
            request: names the issue.
            actor: the name of the person or token that asks.
            once: the request, for which a repetition has no second effect.
            trigger: what started the sprint, if this trigger must start only one run.
            guidance: words for the agent's first prompt.

        Raises:
            InvalidInputError: the URL does not belong to an issue of a repository that takes part.
            ConflictError: the issue is closed.
            UnavailableError, WorkspaceError: the forge does not return the issue, or
                the source cannot be used.
        """
        member, number = self._members.of_issue(request.issue)
        issue = await self._issue(self._forges[member.repository.forge], member, number)
        if not issue.is_open:
            raise ConflictError(f"the issue {number} is closed; open it again first", field="issue")
        sprint = sprint_for(
            member,
            issue,
            name=request.name,
            phases=request.phases,
            agent=request.agent,
            policy=request.policy,
            held_out=request.held_out,
        )
        origin = ForgeOrigin(
            forge=member.repository.forge, repository=member.repository.name, issue=number, trigger=trigger
        )
        new = replace(self._sprints.prepare(sprint, actor), origin=origin, guidance=guidance)
        return await self._sprints.intake.start(new, self._sprints.show, once)

    async def _issue(self, forge: Forge, member: Member, number: int) -> Issue:
        try:
            return await forge.issue(member.repository.name, number)
        except ForgeError as error:
            if error.retry_at is not None or error.is_away:
                raise UnavailableError(str(error)) from error
            raise WorkspaceError(str(error), field="issue") from error

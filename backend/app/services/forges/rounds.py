"""Starts rounds: sprints that answer what people and checks say about a pull request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.db.engine import Sessions
from app.db.models import ForgeReport, Run
from app.forges.operator_file import ReviewRules
from app.forges.repositories import Member
from app.forges.reviews import Feedback, ReviewedPull, ReviewForge
from app.schemas.agents import AgentSpec
from app.schemas.api.sprints import SprintCreate
from app.schemas.forges import RoundOrigin
from app.schemas.runs import Phase
from app.schemas.workspaces import GitSource
from app.services.control.idempotency import UNKEYED
from app.services.control.intake import MAX_NAME_CHARS
from app.services.control.sprints import SprintService
from app.workspaces.sources.continuing import BranchHead


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round that is to begin.

    Attributes:
        root_run_id: the run that opened the pull request.
        number: 1 for the first round.
        pull: as it stands.
        feedback: words for the agent's prompt.
    """

    root_run_id: UUID
    number: int
    pull: ReviewedPull
    feedback: Sequence[Feedback]

    @property
    def trigger(self) -> str:
        """Return what no second run may have."""
        return f"round:{self.root_run_id}:{self.number}"


class RoundService:
    """Starts rounds.

    Args:
        sessions: opens short transactions.
        sprints: starts them.
    """

    def __init__(self, sessions: Sessions, sprints: SprintService) -> None:
        self._sessions = sessions
        self._sprints = sprints

    async def begin(self, asked: Round, member: Member, rules: ReviewRules, forge: ReviewForge) -> UUID:
        """Start a round on the pull request's branch, merged with its target; twice, it is the same one.

        Raises:
            ForgeError: the forge does not say where the branch left its target.
            ConflictError: the branch has moved.
            BudgetSpentError: a budget of the day is spent.
            InvalidInputError, UnavailableError, WorkspaceError: the source cannot be used.
        """
        if known := await self._known(asked.trigger):
            return known
        async with self._sessions() as session:
            root = await session.get_one(Run, asked.root_run_id)
            issue = (await session.get_one(ForgeReport, asked.root_run_id)).issue
        pull, repository = asked.pull, member.repository
        merge_base = await forge.merge_base(repository.name, pull.target_head, pull.head)
        phases = [each for each in repository.rules.phases if each is not Phase.DISCOVERY]
        sprint = SprintCreate(
            goal=root.goal,
            name=_name(root.name, asked.number),
            source=GitSource(url=member.clone_url, ref=pull.target, credential=member.forge.credential),
            phases=phases or [Phase.CODING],
            agent=rules.agent or AgentSpec.model_validate(root.agent),
            policy=rules.policy,
        )
        new = self._sprints.prepare(sprint, f"{repository.forge}:review")
        origin = RoundOrigin(
            forge=repository.forge,
            repository=repository.name,
            issue=issue,
            trigger=asked.trigger,
            root_run_id=asked.root_run_id,
            branch=pull.branch,
            pull_number=pull.pull.number,
            pull_url=pull.pull.url,
            parents=[pull.head] if merge_base == pull.target_head else [pull.head, pull.target_head],
        )
        prepared = replace(
            new,
            origin=origin,
            guidance=[each.text for each in asked.feedback],
            begins_with=BranchHead(pull.branch, pull.head, merge_base),
            held_out_of=root.id,
        )
        try:
            return (await self._sprints.intake.start(prepared, self._sprints.show, UNKEYED)).id
        except IntegrityError:
            if known := await self._known(asked.trigger):
                return known  # another worker started it
            raise

    async def _known(self, trigger: str) -> UUID | None:
        async with self._sessions() as session:
            return await session.scalar(select(ForgeReport.run_id).where(ForgeReport.trigger == trigger))


def _name(name: str, number: int) -> str:
    suffix = f" (round {number})"
    return f"{name[: MAX_NAME_CHARS - len(suffix)].rstrip()}{suffix}"

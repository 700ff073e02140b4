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
from app.services.forges.merge_queue import MergeQueue
from app.workspaces.sources.continuing import BranchHead
from app.workspaces.sources.earlier import EarlierResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round to start.

    Attributes:
        root_run_id: the first run of the issue.
        number: 1 for the first round.
        pull: the present state of the pull request; None before there is one.
        feedback: text for the agent's prompt.
        refused: the run whose result broke together with earlier results. The round starts from the target
            with these merged in. Without a pull request it continues that result.
    """

    root_run_id: UUID
    number: int
    pull: ReviewedPull | None = None
    feedback: Sequence[Feedback]
    refused: UUID | None = None

    @property
    def trigger(self) -> str:
        """Return the key that no second run may have."""
        return f"round:{self.root_run_id}:{self.number}"


@dataclass(frozen=True, slots=True)
class _Start:
    """What a round starts with: its place on the forge, its target, and its files."""

    origin: RoundOrigin
    ref: str | None
    work: BranchHead | EarlierResult


class RoundService:
    """Starts rounds.

    Args:
        sessions: opens short transactions.
        sprints: starts sprints.
        queue: finds the earlier results.
    """

    def __init__(self, sessions: Sessions, sprints: SprintService, queue: MergeQueue) -> None:
        self._sessions = sessions
        self._sprints = sprints
        self._queue = queue

    async def begin(
        self, asked: Round, member: Member, rules: ReviewRules, forge: ReviewForge | None = None
    ) -> UUID:
        """Start a round and return its run; a second call returns the same run.

        A round on a pull request needs `forge`.

        Raises:
            ForgeError: the forge does not report where the branch left its target.
            ConflictError: the branch has moved.
            BudgetSpentError: a day's budget is spent.
            InvalidInputError, UnavailableError, WorkspaceError: the source cannot be used.
        """
        if known := await self._known(asked.trigger):
            return known
        async with self._sessions() as session:
            root = await session.get_one(Run, asked.root_run_id)
            report = await session.get_one(ForgeReport, asked.root_run_id)
        repository = member.repository
        start = await self._start(asked, member, root, report, forge)
        phases = [each for each in repository.rules.phases if each is not Phase.DISCOVERY]
        sprint = SprintCreate(
            goal=root.goal,
            name=_name(root.name, asked.number),
            source=GitSource(url=member.clone_url, ref=start.ref, credential=member.forge.credential),
            phases=phases or [Phase.CODING],
            agent=rules.agent or AgentSpec.model_validate(root.agent),
            policy=rules.policy,
        )
        prepared = replace(
            self._sprints.prepare(sprint, f"{repository.forge}:review"),
            origin=start.origin,
            guidance=[each.text for each in asked.feedback],
            begins_with=start.work,
            after=await self._queue.before(root.id) if asked.refused else (),
            held_out_of=root.id,
        )
        try:
            return (await self._sprints.intake.start(prepared, self._sprints.show, UNKEYED)).id
        except IntegrityError:
            if known := await self._known(asked.trigger):
                return known  # another worker started it
            raise

    async def _start(
        self, asked: Round, member: Member, root: Run, report: ForgeReport, forge: ReviewForge | None
    ) -> _Start:
        origin = RoundOrigin(
            forge=member.repository.forge,
            repository=member.repository.name,
            issue=report.issue,
            trigger=asked.trigger,
            root_run_id=root.id,
            branch=report.branch,
            pull_number=report.pull_number,
            pull_url=report.pull_url,
        )
        pull = asked.pull
        if pull is None or forge is None:
            return _Start(
                origin, root.source.get("ref"), await self._queue.result_of(asked.refused or root.id)
            )
        merge_base = await forge.merge_base(member.repository.name, pull.target_head, pull.head)
        values = {
            "branch": pull.branch,
            "pull_number": pull.pull.number,
            "pull_url": pull.pull.url,
            "parents": [pull.head] if merge_base == pull.target_head else [pull.head, pull.target_head],
        }
        work = BranchHead(pull.branch, pull.head, merge_base)
        return _Start(origin.model_copy(update=values), pull.target, work)

    async def _known(self, trigger: str) -> UUID | None:
        async with self._sessions() as session:
            return await session.scalar(select(ForgeReport.run_id).where(ForgeReport.trigger == trigger))


def _name(name: str, number: int) -> str:
    suffix = f" (round {number})"
    return f"{name[: MAX_NAME_CHARS - len(suffix)].rstrip()}{suffix}"

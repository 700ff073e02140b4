"""Starts a run of any kind: creates its files, its row, its first event and its first job."""

import glob
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

import anyio
import logfire
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import InvalidInputError
from app.core.events.runs import ForkOriginData, RunCreatedData
from app.db.engine import Sessions
from app.db.models import ForgeReport, HeldOut, Run, Snapshot
from app.jobs.queue import enqueue_advance
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.agents import AgentBackend, AgentName, AgentSpec, agent_label
from app.schemas.forges import ForgeOrigin
from app.schemas.held_out import HeldOutInput
from app.schemas.runs import RunKind, RunPolicy
from app.schemas.workspaces import GitSource, LocalSource, SourceInfo, WorkspaceSource
from app.services.control.held_out import copy_held_out
from app.services.control.holding_out import NO_SHARE, Holding, HoldOutRequest, ShareDefault, hold_out
from app.services.control.idempotency import Once
from app.services.record.budgets import BudgetKeeper
from app.services.record.queued_runs import queued_run
from app.services.record.transactions import EventBell, Recording
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.continuing import Beginning, BranchHead, begin_on_branch, begin_on_result
from app.workspaces.sources.earlier import EarlierResult, build_on
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, inspect_source
from app.workspaces.store import WorkspaceStore

logger = logging.getLogger(__name__)

MAX_NAME_CHARS = 80
_MAX_OPENED = 500

ViewT = TypeVar("ViewT", bound=BaseModel)

Show = Callable[[AsyncSession, UUID], Awaitable[ViewT]]
"""Reads a run for the response, in the transaction that records the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as a client asks for it.

    Attributes:
        kind: the kind of run.
        phases: at least one, in order.
        source: where the files come from.
        goal: what the run is for, in the client's words.
        name: the name in lists; None for the start of the goal.
        policy: the limits and thresholds of the run.
        agent: the agents that work on it.
        definition: what only its kind needs; None for sprints.
        held_out: tests that no agent sees; None for the default.
        actor: the name of the person or token that asks.
        origin: its place on a forge, if it has one.
        id: the run's id; None for a new one.
        guidance: text for the agent's first prompt.
        begins_with: the work that the run continues: a branch of its remote source, or another run's result.
            None starts from the base.
        after: results of other runs to merge into the base; a result that conflicts is left out.
        held_out_of: the run whose held-out tests the new run takes over.
    """

    kind: RunKind
    phases: Sequence[str]
    source: WorkspaceSource
    goal: str
    name: str | None
    policy: RunPolicy
    agent: AgentSpec
    definition: dict[str, Any] | None = None
    held_out: HeldOutInput | None = None
    actor: str
    origin: ForgeOrigin | None = None
    id: UUID | None = None
    guidance: Sequence[str] = ()
    begins_with: BranchHead | EarlierResult | None = None
    after: Sequence[EarlierResult] = ()
    held_out_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class Intake:
    """Starts runs.

    Attributes:
        sessions: opens transactions.
        store: keeps the runs' files.
        git: the git program.
        sources: which sources are allowed.
        bell: signals new events.
        budgets: refuses runs while a day's budget is spent; None sets no bound.
        default_agent: the agent for sprints that name none.
        default_share: the share of test cases to hide in sprints that do not say it.
    """

    sessions: Sessions
    store: WorkspaceStore
    git: Git
    sources: SourcePolicy
    bell: EventBell
    budgets: BudgetKeeper | None = None
    default_agent: AgentName = AgentBackend.AUTO
    default_share: ShareDefault = NO_SHARE

    async def start(self, new: NewRun, show: Show[ViewT], once: Once) -> ViewT:
        """Import the source, then record the run and its first job in one transaction.

        Raises:
            ReplayError: the same request has started a run in the meantime.
            BudgetSpentError: a day's budget is spent.
            InvalidInputError, WorkspaceError: the source cannot be used; nothing of the run is left behind.
        """
        info = await inspect_source(new.source, self.sources, self.git)
        if self.budgets is not None and new.agent.script is None:
            await self.budgets.check_day(info.location)
        run_id = new.id or uuid4()
        # Apart from the runs: another worker may start a run with the same id, and may be quicker.
        async with self.store.importing() as repository:
            with logfire.span("start run {run_id}", run_id=run_id):
                imported = await import_source(info.pinned, repository, self.sources)
                base, earlier = await self._build_on(repository, imported, new)
                is_known = base == imported and isinstance(new.source, LocalSource | GitSource)
                held = await self._hold_out(run_id, repository, base, new, is_known=is_known)
                base = held.base
                bundle = await repository.bundle(base)
                rows: list[Snapshot | HeldOut | ForgeReport]
                rows = [Snapshot(run_id=run_id, commit=base, kind="base", bundle=bundle), *held.rows]
                rows += [] if new.origin is None else [_report_row(run_id, new.origin, earlier)]
                row = _row(run_id, new, self._agent_of(new), info, held)
                if new.begins_with is not None:
                    rows.append(await self._begin(row, new, new.begins_with, repository))
                view = await self._record(row, rows, show, once, new.held_out_of)
            with anyio.CancelScope(shield=True):
                await self._keep(run_id, repository)
        self.bell.ring(run_id)
        return view

    async def _keep(self, run_id: UUID, repository: RunRepository) -> None:
        try:
            await self.store.keep(run_id, repository)
        except OSError as error:
            # The run is recorded with its files, so its worker restores them.
            logger.warning("the files of run %s stay in the database for now: %s", run_id, error)

    def _agent_of(self, new: NewRun) -> AgentSpec:
        # Models write loops and answers.
        return new.agent.with_default(self.default_agent) if new.kind is RunKind.SPRINT else new.agent

    async def _hold_out(
        self, run_id: UUID, repository: RunRepository, base: str, new: NewRun, *, is_known: bool
    ) -> Holding:
        asked = HoldOutRequest(
            given=new.held_out,
            goal=Goal(tests=new.policy.goal_tests, words=new.goal),
            opened=new.policy.open_paths,
            phases=new.phases,
            is_known=is_known,
            # The tests of work that goes on are visible already.
            has_default=new.kind is RunKind.SPRINT and new.begins_with is None,
        )
        return await hold_out(run_id, asked, self.default_share, repository, base)

    async def _build_on(
        self, repository: RunRepository, base: str, new: NewRun
    ) -> tuple[str, Sequence[EarlierResult]]:
        if not isinstance(new.source, GitSource):
            return base, ()  # only remote repositories have pull requests
        return await build_on(repository, base, new.after, new.source, self.sources)

    async def _begin(
        self, run: Run, new: NewRun, work: BranchHead | EarlierResult, repository: RunRepository
    ) -> Snapshot:
        """Start a run from other work.

        The paths that this work changed are opened, because people have already agreed to the changes.
        """
        begun = await self._beginning(run, new, work, repository)
        run.head_commit = begun.commit
        opened = [*new.policy.open_paths, *(glob.escape(each) for each in begun.changed[:_MAX_OPENED])]
        run.policy = {**run.policy, "open_paths": opened}
        if begun.conflicts:
            names = "\n".join(f"- {each}" for each in begun.conflicts[:_MAX_OPENED])
            run.guidance = [*run.guidance, f"These files contain conflict markers:\n\n{names}"]
        return Snapshot(run_id=run.id, commit=begun.commit, kind="attempt", bundle=begun.bundle)

    async def _beginning(
        self, run: Run, new: NewRun, work: BranchHead | EarlierResult, repository: RunRepository
    ) -> Beginning:
        if isinstance(work, EarlierResult):
            return await begin_on_result(work, repository, run.base_commit)
        if not isinstance(new.source, GitSource):
            raise InvalidInputError("only a remote repository has branches to continue from", field="source")
        return await begin_on_branch(new.source, work, repository, run.base_commit, self.sources)

    async def _record(
        self,
        run: Run,
        rows: Sequence[Snapshot | HeldOut | ForgeReport],
        show: Show[ViewT],
        once: Once,
        held_out_of: UUID | None,
    ) -> ViewT:
        async with self.sessions.begin() as session:
            await once.claim(session)
            session.add(run)
            await session.flush()
            session.add_all(rows)
            if held_out_of is not None:
                await copy_held_out(session, held_out_of, run.id, same_base=False)
            await announce(session, run)
            view = await show(session, run.id)
            await once.keep(session, view)
        return view


def _row(run_id: UUID, new: NewRun, agent: AgentSpec, info: SourceInfo, held: Holding) -> Run:
    return queued_run(
        id=run_id,
        kind=new.kind,
        name=new.name or name_of(new.goal),
        goal=new.goal,
        phases=new.phases,
        policy=new.policy,
        agent=agent.model_dump(mode="json", exclude_none=True),
        source=source_document(info),
        definition=new.definition,
        guidance=list(new.guidance),
        base_commit=held.base,
        held_out_note=held.note,
        created_by=new.actor,
    )


def _report_row(run_id: UUID, origin: ForgeOrigin, earlier: Sequence[EarlierResult]) -> ForgeReport:
    # A comment on the issue is due at once, to say that the run started.
    wanted = 0 if origin.issue is None else 1
    after = [each.run_id for each in earlier]
    return ForgeReport(run_id=run_id, wanted=wanted, after=after, **origin.model_dump())


async def announce(session: AsyncSession, run: Run) -> None:
    """Record the first event of a run that the transaction adds, and enqueue its first job."""
    spec = AgentSpec.model_validate(run.agent)
    data = RunCreatedData(
        kind=run.kind,
        name=run.name,
        goal=run.goal,
        phases=run.phases,
        max_attempts=run.policy["max_attempts"],
        agent=agent_label(spec),
        scripted=spec.backend is AgentBackend.SCRIPTED,
        source=run.source["location"],
        base_commit=run.base_commit,
        forked_from=ForkOriginData.model_validate(run.forked_from) if run.forked_from else None,
    )
    recording = Recording(session, run)
    recording.tell(data)
    await recording.flush_events()
    await enqueue_advance(session, run.id)


def name_of(goal: str) -> str:
    """Return a short name made from the goal's first line."""
    first = goal.strip().splitlines()[0].strip()
    return first if len(first) <= MAX_NAME_CHARS else f"{first[: MAX_NAME_CHARS - 1].rstrip()}…"


def source_document(info: SourceInfo) -> dict[str, Any]:
    """Return what is stored of a source: location, branch and notes, without the password in a URL."""
    document = info.pinned.model_dump(mode="json")
    if isinstance(info.pinned, GitSource):
        document["url"] = info.location
    if info.branch is not None:
        document["branch"] = info.branch
    return {**document, "location": info.location, "notes": list(info.notes)}

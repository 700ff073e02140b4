"""Reads the backlog: each item's dependencies, the load of a project, and the board."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, and_, cast, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import BacklogDependency, BacklogItem, BacklogProject, ForgeReport, Run
from app.schemas.api.backlog import (
    BacklogBoard,
    BacklogItemView,
    BacklogProjectView,
    BoardColumn,
    DependencyView,
    ProjectLimits,
)
from app.schemas.runs import RunStatus
from app.services.backlog.planning import Needed, ProjectFacts, unmet_reason
from app.services.read.runs import load_views

MAX_SHOWN = 200
_COLUMN = 50
_MAX_PROJECTS = 100
_UNFINISHED = ("waiting", "starting")

_REVIEWED = exists().where(
    ForgeReport.run_id == Run.id,
    ForgeReport.root_run_id.is_(None),  # a round works on the pull request of another run
    ForgeReport.pull_number.is_not(None),
    ForgeReport.outcome.is_(None),
)
_MOVING = and_(Run.status.in_([RunStatus.QUEUED, RunStatus.ACTIVE]), Run.paused_at.is_(None))
_TOP = Run.parent_run_id.is_(None)


async def load_needs(session: AsyncSession, items: Collection[UUID]) -> dict[UUID, list[tuple[UUID, Needed]]]:
    """Read the present state of the work that items depend on, by item."""
    other = BacklogItem.__table__.alias("other")
    columns = (
        BacklogDependency.item_id,
        BacklogDependency.needs,
        BacklogDependency.until,
        func.coalesce(Run.name, other.c.name, ""),
        other.c.status,
        Run.status,
        ForgeReport.run_id,
        ForgeReport.outcome,
    )
    statement = (
        select(*columns)
        .outerjoin(other, other.c.id == BacklogDependency.needs)
        .outerjoin(Run, Run.id == BacklogDependency.needs)
        .outerjoin(ForgeReport, ForgeReport.run_id == BacklogDependency.needs)
        .where(BacklogDependency.item_id.in_(items))
        .order_by(BacklogDependency.item_id, BacklogDependency.needs)
    )
    found: dict[UUID, list[tuple[UUID, Needed]]] = defaultdict(list)
    rows: Sequence[Any] = (await session.execute(statement)).all()  # after outer joins any column may be null
    for item, needs, until, name, item_status, status, report, outcome in rows:
        needed = Needed(
            name=name,
            until=until,
            removed=item_status == "removed",
            status=None if status is None else RunStatus(status),
            has_report=report is not None,
            outcome=outcome,
        )
        found[item].append((needs, needed))
    return found


async def known_issues(
    session: AsyncSession, forge: str, repository: str, numbers: Collection[int]
) -> set[int]:
    """Return those of these issues that have an item or a run."""
    number = cast(BacklogItem.origin["issue"].astext, Integer)
    items = select(number).where(
        BacklogItem.status != "removed",
        BacklogItem.origin["forge"].astext == forge,
        BacklogItem.origin["repository"].astext == repository,
        number.in_(numbers),
    )
    runs = select(ForgeReport.issue).where(
        ForgeReport.forge == forge, ForgeReport.repository == repository, ForgeReport.issue.in_(numbers)
    )
    return set(await session.scalars(items.union(runs)))


async def load_facts(session: AsyncSession, project: str) -> ProjectFacts:
    """Read how much is going on in a project now."""
    row = await session.get(BacklogProject, project)
    starting = select(func.count()).where(BacklogItem.project == project, BacklogItem.status == "starting")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    of_project = and_(Run.project == project, _TOP)
    counts = select(
        _count(of_project, _MOVING),
        _count(of_project, Run.status == RunStatus.WAITING),
        _count(of_project, _REVIEWED),
        _count(of_project, Run.created_at >= midnight),
        starting.scalar_subquery(),
    )
    moving, waiting, reviewed, today, being_started = (await session.execute(counts)).one()
    return ProjectFacts(
        limits=limits_of(row),
        paused=row is not None and row.paused_at is not None,
        running=moving + being_started,
        waiting_for_humans=waiting,
        open_pull_requests=reviewed,
        started_today=today + being_started,
    )


def limits_of(row: BacklogProject | None) -> ProjectLimits:
    """Return the limits of a project; a project without a row has none."""
    if row is None:
        return ProjectLimits()
    return ProjectLimits(
        running=row.running,
        waiting_for_humans=row.waiting_for_humans,
        open_pull_requests=row.open_pull_requests,
        per_day=row.per_day,
    )


def item_view(row: BacklogItem, needs: Sequence[tuple[UUID, Needed]]) -> BacklogItemView:
    """Return an item as the API shows it."""
    return BacklogItemView.model_validate(
        {
            "id": row.id,
            "name": row.name,
            "project": row.project,
            "priority": row.priority,
            "status": row.status,
            "reason": row.reason if row.status == "waiting" else "",
            "depends_on": [
                DependencyView(on=on, until=each.until, name=each.name, met=not unmet_reason(each))
                for on, each in needs
            ],
            "issue": (row.origin or {}).get("issue"),
            "created_by": row.created_by,
            "created_at": row.created_at,
        }
    )


def in_order(statement: Select[BacklogItem]) -> Select[BacklogItem]:
    """Sort items in the order in which they start."""
    return statement.order_by(BacklogItem.priority.desc(), BacklogItem.created_at, BacklogItem.id)


class BacklogBoardQueries:
    """Reads the board.

    Args:
        sessions: opens short sessions.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def board(self, project: str | None = None) -> BacklogBoard:
        """Return the board of one project, or of all projects."""
        item = BacklogItem.status.in_(_UNFINISHED)
        of_project = () if project is None else (Run.project == project,)
        waiting = select(BacklogItem).where(item)
        if project is not None:
            waiting = waiting.where(BacklogItem.project == project)
        async with self._sessions() as session:
            rows = (await session.scalars(in_order(waiting).limit(MAX_SHOWN))).all()
            needs = await load_needs(session, [each.id for each in rows])
            total = await session.scalar(select(func.count()).select_from(waiting.subquery())) or 0
            finished = Run.status.in_([each for each in RunStatus if each.is_final])
            return BacklogBoard(
                waiting=[item_view(each, needs.get(each.id, ())) for each in rows],
                waiting_total=total,
                running=await _column(
                    session, Run.status.in_([RunStatus.QUEUED, RunStatus.ACTIVE]), *of_project
                ),
                asks_human=await _column(session, Run.status == RunStatus.WAITING, *of_project),
                in_review=await _column(session, finished, _REVIEWED, *of_project),
                done=await _column(session, finished, ~_REVIEWED, *of_project),
                projects=await _projects(session, project),
            )


async def project_view(session: AsyncSession, project: str) -> BacklogProjectView:
    """Return a project with its limits and its present load."""
    facts = await load_facts(session, project)
    row = await session.get(BacklogProject, project)
    return BacklogProjectView(
        project=project,
        paused_at=row.paused_at if row else None,
        paused_by=row.paused_by if row else None,
        limits=facts.limits,
        running=facts.running,
        waiting_for_humans=facts.waiting_for_humans,
        open_pull_requests=facts.open_pull_requests,
        started_today=facts.started_today,
    )


async def _projects(session: AsyncSession, project: str | None) -> list[BacklogProjectView]:
    if project is not None:
        return [await project_view(session, project)]
    items = select(BacklogItem.project).where(BacklogItem.status.in_(_UNFINISHED))
    named = items.union(select(BacklogProject.project)).subquery()
    found = await session.scalars(select(named.c[0]).order_by(named.c[0]).limit(_MAX_PROJECTS))
    return [await project_view(session, each) for each in found.all()]


async def _column(session: AsyncSession, *conditions: ColumnElement[bool]) -> BoardColumn:
    chosen = (_TOP, *conditions)
    statement = select(Run).where(*chosen).order_by(Run.created_at.desc(), Run.id.desc()).limit(_COLUMN)
    runs = (await session.scalars(statement)).all()
    total = await session.scalar(select(func.count()).select_from(Run).where(*chosen)) or 0
    return BoardColumn(items=[*await load_views(session, runs)], total=total)


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return select(func.count()).select_from(Run).where(*conditions).correlate(None).scalar_subquery()

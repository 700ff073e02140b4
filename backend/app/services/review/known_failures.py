"""Adds, lists and removes the known failures of projects."""

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import InvalidInputError, NotFoundError
from app.db.engine import Sessions
from app.db.models import Attempt, KnownFailure, Run
from app.schemas.api.known_failures import (
    MAX_SHOWN,
    KnownFailureList,
    KnownFailuresNamed,
    KnownFailuresRemoved,
    KnownFailureView,
)
from app.services.record.known_failures import add_known_failures, project_of
from app.services.review.asked import load_questions


class KnownFailureService:
    """Lists the tests that reviewers allowed to fail, and takes that back."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def of_project(self, project: str | None) -> KnownFailureList:
        """Return the known failures of one project, or of all projects."""
        wanted = () if project is None else (KnownFailure.project == project,)
        statement = select(KnownFailure).where(*wanted).order_by(KnownFailure.project, KnownFailure.test)
        async with self._sessions() as session:
            rows = (await session.scalars(statement.limit(MAX_SHOWN))).all()
            total = await session.scalar(select(func.count()).select_from(KnownFailure).where(*wanted))
        return KnownFailureList(items=[_view(each) for each in rows], total=total or 0)

    async def remove(self, named: KnownFailuresNamed) -> KnownFailuresRemoved:
        """Remove known failures, so that later attempts ask about these tests again.

        Raises:
            NotFoundError: the project has none of them.
        """
        statement = delete(KnownFailure).where(KnownFailure.project == named.project)
        if named.test:
            statement = statement.where(KnownFailure.test.in_(named.test))
        async with self._sessions.begin() as session:
            removed = (await session.scalars(statement.returning(KnownFailure.key))).all()
        if not removed:
            raise NotFoundError("the project has no such known failure")
        return KnownFailuresRemoved(removed=len(removed))


def _view(row: KnownFailure) -> KnownFailureView:
    return KnownFailureView(
        project=row.project,
        test=row.test,
        run_id=row.run_id,
        added_by=row.added_by,
        added_at=row.added_at,
    )


async def learn_known_failures(session: AsyncSession, run: Run, attempt: Attempt | None, actor: str) -> int:
    """Add the tests in question that fail at the base to the project's known failures; return how many.

    Raises:
        InvalidInputError: no question names such tests, or the run has no repository.
        ConflictError: the project would have too many.
    """
    project = project_of(run)
    if project is None:
        raise InvalidInputError("the run has no repository that later runs share", field="known_failures")
    asked = await load_questions(session, attempt)
    tests = list(dict.fromkeys(test for each in asked for test in each.tests))
    if not tests:
        raise InvalidInputError("no question names tests that fail at the base", field="known_failures")
    await add_known_failures(session, run, project, tests, actor)
    return len(tests)

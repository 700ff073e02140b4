"""Stores and reads the tests that may fail at the base in every run of a project."""

import glob
import hashlib
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError
from app.db.models import KnownFailure, Run
from app.schemas.api.known_failures import MAX_SHOWN

_WITH_PROJECT = frozenset({"local", "git"})
"""Kinds of sources whose location is the same in later runs. Two archives may have the same name."""


def project_of(run: Run) -> str | None:
    """Return the project that a run belongs to; None if no later run can belong to the same one."""
    return str(run.source["location"]) if run.source.get("kind") in _WITH_PROJECT else None


async def load_known_failures(session: AsyncSession, run: Run) -> list[str]:
    """Read globs of the tests that reviewers know to fail in a run's project."""
    project = project_of(run)
    if project is None:
        return []
    statement = select(KnownFailure.test).where(KnownFailure.project == project).order_by(KnownFailure.test)
    return [glob.escape(each) for each in await session.scalars(statement)]


async def add_known_failures(
    session: AsyncSession, run: Run, project: str, tests: Sequence[str], actor: str
) -> None:
    """Add tests to the known failures of a run's project. Those that are there keep who added them first.

    Raises:
        ConflictError: the project would have too many.
    """
    rows = [
        {"key": _key(project, each), "project": project, "test": each, "run_id": run.id, "added_by": actor}
        for each in dict.fromkeys(tests)
    ]
    await session.execute(insert(KnownFailure).on_conflict_do_nothing(index_elements=["key"]), rows)
    of_project = select(func.count()).select_from(KnownFailure).where(KnownFailure.project == project)
    if (await session.scalar(of_project) or 0) > MAX_SHOWN:
        raise ConflictError(
            f"the project would have more than {MAX_SHOWN} known failures", field="known_failures"
        )


def _key(project: str, test: str) -> str:
    return hashlib.sha256(f"{project}\x1f{test}".encode("utf-8", "surrogatepass")).hexdigest()

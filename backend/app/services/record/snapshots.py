"""Copies the stored files of one run to another; the first worker restores them from the copy."""

from uuid import UUID

from sqlalchemy import insert, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Snapshot


async def copy_snapshots(
    session: AsyncSession, origin: UUID, heir: UUID, commit: str | None = None
) -> frozenset[str]:
    """Copy a run's base, and optionally one further commit, to another run.

    Returns:
        The commits that were copied; commits that are no longer stored are not included.
    """
    wanted = or_(Snapshot.kind == "base", Snapshot.commit == commit)
    found = select(literal(heir), Snapshot.commit, Snapshot.kind, Snapshot.bundle, Snapshot.created_at).where(
        Snapshot.run_id == origin, wanted
    )
    columns = ["run_id", "commit", "kind", "bundle", "created_at"]
    statement = insert(Snapshot).from_select(columns, found).returning(Snapshot.commit)
    return frozenset((await session.scalars(statement)).all())

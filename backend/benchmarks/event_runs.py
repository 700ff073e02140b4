"""Runs for benchmarks of events: rows that no worker takes up."""

from uuid import UUID

from app.db.engine import Sessions
from app.db.models import Run


async def add_run(sessions: Sessions, run_id: UUID) -> UUID:
    """Add an active run without a job; gives its id."""
    run = Run(
        id=run_id,
        kind="sprint",
        name="benchmark",
        goal="Tick.",
        phases=["coding"],
        phase="coding",
        policy={},
        agent={"backend": "auto"},
        source={},
        status="active",
        base_commit="0" * 40,
        head_commit="0" * 40,
        created_by="benchmark",
    )
    async with sessions.begin() as session:
        session.add(run)
    return run_id

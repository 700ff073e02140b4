"""Adds runs that no worker takes, for tests that store events of them."""

from uuid import UUID

from app.db.engine import Sessions
from app.db.models import Run
from app.realtime.store import Fence

NO_FENCE = Fence(0, 0)
"""The fence of a run that no job has taken yet."""


async def add_run(sessions: Sessions, run_id: UUID, fence: Fence = NO_FENCE) -> UUID:
    """Add an active run without a job, held by `fence`, and return its id."""
    run = Run(
        id=run_id,
        kind="sprint",
        name="ticking",
        goal="Tick.",
        phases=["coding"],
        phase="coding",
        policy={},
        agent={"backend": "auto"},
        source={},
        status="active",
        base_commit="0" * 40,
        head_commit="0" * 40,
        created_by="harness",
        fence_job=fence.job_id,
        fence_try=fence.attempt,
    )
    async with sessions.begin() as session:
        session.add(run)
    return run_id

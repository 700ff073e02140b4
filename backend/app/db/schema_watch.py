"""Notices when a newer version of the program migrates the database under a running process."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio.to_thread
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.db.migrate import known_revisions, unknown_schema

CHECK_SECONDS = 5.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def watching_schema(
    sessions: Sessions, stop: Callable[[], None], *, seconds: float = CHECK_SECONDS
) -> AsyncGenerator[None]:
    """Call `stop` when the database gets a schema that this version does not know.

    An old process would write rows that the new version misreads. So it stops and hands its runs over.

    Args:
        sessions: opens sessions on the database.
        stop: starts to stop the process; must not wait.
        seconds: the period of checks.

    Raises:
        DatabaseSetupError: at the end of the block, if the schema became newer.
    """
    known = await anyio.to_thread.run_sync(known_revisions)
    found: list[str] = []

    async def watch() -> None:
        while not found:
            await asyncio.sleep(seconds)
            revision = await _revision(sessions)
            if revision is not None and revision not in known:
                found.append(revision)
                logger.critical("%s. This process ends", unknown_schema(revision).detail)
                stop()

    task = asyncio.create_task(watch(), name="schema watch")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    if found:
        raise unknown_schema(found[0])


async def _revision(sessions: Sessions) -> str | None:
    try:
        async with sessions() as session:
            return await session.scalar(text("SELECT version_num FROM alembic_version"))
    except (OSError, SQLAlchemyError):  # the database is unavailable, or is being migrated
        return None

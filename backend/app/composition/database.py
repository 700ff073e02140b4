"""Opens the resources of a process: its database, its connections, its scratch directory."""

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from app.composition.judging import remove_what_is_left
from app.composition.sandbox import container_removal
from app.core.config import Settings
from app.core.errors import DatabaseSetupError, InvalidInputError
from app.db.embedded import Lease, ensure_running
from app.db.engine import Sessions, create_engine, create_sessions, plain_url
from app.db.migrate import upgrade_to_head
from app.workspaces.confine.ownership import Places, owning
from app.workspaces.files.removal import remove_tree

logger = logging.getLogger(__name__)

_SERVER_CHECK_SECONDS = 2.0
_SERVER_RETRY_SECONDS = 10.0

_PRIVATE = ("runs", "scratch", "environments", "logfire")
"""Directories in DATA_DIR that contain projects' code."""


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncGenerator[str]:
    """Yield the URL of a database with the newest schema; the embedded server runs while the block does.

    If that server is killed, it is started again.

    Raises:
        InvalidInputError: DATABASE_URL is not a Postgres URL, or DATA_DIR cannot be written to.
        DatabaseSetupError: there is no database, and none can be made.
    """
    await prepare_data_dir(anyio.Path(settings.DATA_DIR))
    if settings.DATABASE_URL is not None:
        url = plain_url(settings.DATABASE_URL.get_secret_value())
        await upgrade_to_head(url)
        yield url
        return
    lease = await ensure_running(Path(await anyio.Path(settings.DATA_DIR).absolute()))
    try:
        await upgrade_to_head(lease.url)
        keeper = asyncio.create_task(_keep_running(lease), name="embedded database")
        try:
            yield lease.url
        finally:
            keeper.cancel()
            await asyncio.wait([keeper])
    finally:
        lease.release()


@asynccontextmanager
async def open_scratch(settings: Settings) -> AsyncGenerator[Path]:
    """Yield a directory that this process owns, and mark its children and temporary files as its own.

    What killed processes left behind is removed now, and regularly while the block runs.

    Raises:
        InvalidInputError: DATA_DIR cannot be written to.
    """
    parents = (settings.DATA_DIR.absolute() / "scratch", Path(tempfile.gettempdir()))
    places = Places(parents, settings.SANDBOX_CGROUP, container_removal(settings))
    with owning(places) as directories:
        await remove_what_is_left(places)
        sweeper = asyncio.create_task(_remove_leftovers_again(places, settings.ENGINE_LEFTOVERS_SECONDS))
        try:
            yield directories[0]
        finally:
            sweeper.cancel()
            await asyncio.wait([sweeper])
            with anyio.CancelScope(shield=True):
                for directory in directories:
                    await remove_tree(directory)


@asynccontextmanager
async def open_sessions(settings: Settings, database_url: str) -> AsyncGenerator[Sessions]:
    """Yield the session factory while the block runs."""
    engine = create_engine(database_url, pool_size=settings.DATABASE_POOL_SIZE)
    try:
        yield create_sessions(engine)
    finally:
        await engine.dispose()


async def _keep_running(lease: Lease) -> None:
    while True:
        await asyncio.sleep(_SERVER_CHECK_SECONDS)
        try:
            if await anyio.to_thread.run_sync(lease.revive):
                logger.warning("the embedded database had ended and was started again")
        except (DatabaseSetupError, OSError) as error:
            logger.error("the embedded database cannot be started again, retrying: %s", error)  # noqa: TRY400 - the cause is in the message
            await asyncio.sleep(_SERVER_RETRY_SECONDS)


async def _remove_leftovers_again(places: Places, period: float) -> None:
    while True:
        await asyncio.sleep(period)
        await remove_what_is_left(places)


def _close_to_others(data_dir: Path) -> None:
    """Hide the files of runs from other users; a directory of another owner stays as it is.

    Root's DATA_DIR stays searchable, because the account of the embedded server has a directory in it.
    """
    if data_dir.stat().st_uid != os.geteuid():
        return
    data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
    for name in _PRIVATE:
        (data_dir / name).mkdir(mode=0o700, exist_ok=True)
        (data_dir / name).chmod(0o700)


async def prepare_data_dir(data_dir: anyio.Path) -> None:
    """Create DATA_DIR and close it to other users.

    Raises:
        InvalidInputError: it cannot be written to.
    """
    try:
        await data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        await anyio.to_thread.run_sync(_close_to_others, Path(data_dir))
        ignore = data_dir / ".gitignore"
        if not await ignore.exists():
            # DATA_DIR may be in a repository, which must not look changed because of it.
            await ignore.write_text("*\n")
    except OSError as error:
        raise InvalidInputError(
            f"{data_dir} cannot be written to: {error.strerror}", field="DATA_DIR"
        ) from error

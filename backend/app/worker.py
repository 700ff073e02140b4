"""Runs a worker without the API: it executes runs. Any number of workers share one database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from app.composition.chores import build_accounts, open_upkeep
from app.composition.database import open_database, open_scratch, open_sessions
from app.composition.services import build_container, build_worker
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.signals import ENDING
from app.core.telemetry import configure_logging, configure_telemetry
from app.db.schema_watch import watching_schema
from app.jobs.worker import running
from app.realtime.service import open_doorbell
from app.services.record.model_requests import open_ledger


async def work(settings: Settings) -> None:
    """Work until SIGINT, SIGTERM or cancellation, then hand over running attempts.

    Raises:
        DatabaseSetupError: there is no database, or a newer version has migrated it.
    """
    configure_logging(settings)
    configure_telemetry(settings, service="phaserunner-worker")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, stop.set)
    async with (
        open_database(settings) as url,
        open_sessions(settings, url) as sessions,
        open_doorbell(url) as doorbell,
        open_scratch(settings) as scratch,
        open_ledger(sessions, build_accounts(settings), doorbell) as ledger,
    ):
        container = build_container(settings, sessions, doorbell, scratch, ledger)
        await container.warn_if_unconfined()
        async with (
            watching_schema(sessions, stop.set),
            open_upkeep(settings, sessions, doorbell, container.chores),
            running(build_worker(settings, url, container)),
            renewing(settings.WORKER_ALIVE_FILE, settings.ENGINE_HEARTBEAT_SECONDS),
        ):
            await stop.wait()


@asynccontextmanager
async def renewing(path: Path | None, seconds: float) -> AsyncGenerator[None]:
    """Touch a file every `seconds` while the block runs, so that its age shows when this process hangs.

    An outage of the database does not stop this, because restarting the process would not help.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        await asyncio.to_thread(path.touch)
    except OSError as error:
        told = f"{path} cannot be written: {error.strerror}"
        raise InvalidInputError(told, field="WORKER_ALIVE_FILE") from error
    renewing = asyncio.create_task(_renew(path, seconds))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.to_thread(path.unlink, missing_ok=True)


async def _renew(path: Path, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        with suppress(OSError):  # a monitor sees that the file grows old
            await asyncio.to_thread(path.touch)

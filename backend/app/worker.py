"""A worker without the API: it executes runs. Any number of workers share one database."""

import asyncio
import signal

from app.composition.chores import build_accounts, open_upkeep
from app.composition.database import open_database, open_scratch, open_sessions
from app.composition.services import build_container, build_worker
from app.core.config import Settings
from app.core.telemetry import configure_logging, configure_telemetry
from app.db.schema_watch import watching_schema
from app.jobs.worker import running
from app.realtime.service import open_doorbell
from app.services.record.model_requests import open_ledger


async def work(settings: Settings) -> None:
    """Work until SIGINT, SIGTERM or cancellation; running attempts are handed over.

    Raises:
        DatabaseSetupError: there is no database, or it was migrated by a newer version.
    """
    configure_logging(settings)
    configure_telemetry(settings, service="phaserunner-worker")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
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
        ):
            await stop.wait()

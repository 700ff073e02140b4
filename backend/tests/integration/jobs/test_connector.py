"""The job queue's connection for notifications is opened again, and each loss and each return is logged."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest

from app.db.engine import plain_url
from app.jobs.connector import PatientConnector
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

LOST = "the job queue is waiting for the database: the connection for notifications was closed"
BACK = "the job queue has its database again"
# The connections of the pool have executed nothing.
_END_LISTENER = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'phaserunner-queue' AND query <> ''
"""


@asynccontextmanager
async def listener(url: str, heard: asyncio.Queue[str]) -> AsyncGenerator[None]:
    """Listens for notifications as the queue's worker does."""

    async def hear(*, channel: str, payload: str) -> None:
        assert channel == "jobs"
        heard.put_nowait(payload)

    connector = PatientConnector(url, connections=2)
    await connector.open_async()
    listening = asyncio.create_task(connector.listen_notify(hear, ["jobs"]))
    try:
        yield
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        await connector.close_async()


async def test_each_loss_and_each_return_is_logged(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url, heard = plain_url(database_url), asyncio.Queue[str]()
    async with (
        await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
        listener(url, heard),
        asyncio.timeout(PATIENCE),
    ):

        async def until_heard(payload: str) -> None:
            while heard.empty() or heard.get_nowait() != payload:
                await connection.execute("SELECT pg_notify('jobs', %s)", [payload])
                await asyncio.sleep(0.05)

        with caplog.at_level(logging.INFO, "app.jobs.connector"):
            await until_heard("0")
            for times in (1, 2, 3):
                ended = await (await connection.execute(_END_LISTENER)).fetchall()
                assert ended == [(True,)]
                while caplog.messages.count(LOST) < times:
                    await connection.execute("SELECT pg_sleep(0.01)")
                await until_heard(str(times))
    assert caplog.messages == [LOST, BACK] * 3

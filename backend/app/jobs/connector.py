"""The queue's way to the database: waits for one that is away, where the queue's own worker would end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from typing_extensions import override

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.25
# Less patient than the pool's own half minute: a connection that is not there by then is asked for anew.
_POOL_SECONDS = 2.0
_JOB_IS_GONE = "Job was not found"

Value = TypeVar("Value")


class PatientConnector(PsycopgConnector):
    """Repeats calls that failed because the database was unavailable, until it should give up.

    The queue's worker ends when one of its statements fails, and its running jobs with it; a second without
    database would cost hours of an agent's work. A statement may be repeated that was carried out although
    its answer was lost: the sweep finds a job that was fetched but never begun.
    """

    def __init__(self, database_url: str, *, connections: int) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - its hooks for JSON are untyped
            conninfo=database_url,
            min_size=1,
            max_size=connections,
            timeout=_POOL_SECONDS,
            reconnect_timeout=_POOL_SECONDS,
            kwargs={
                "connect_timeout": 10,
                "application_name": "phaserunner-queue",
                # As for our own sessions: who is stopped half-way must not keep a job locked.
                "options": "-c idle_in_transaction_session_timeout=10s",
            },
        )
        self._patient = True

    def give_up(self) -> None:
        """Let statements fail from now on: the process wants to end."""
        self._patient = False

    @override
    async def open_async(self, pool: Any = None) -> None:
        """Open the pool as soon as the database answers."""
        await self._patiently(lambda: self._open(pool))

    @override
    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Execute a statement without result; the end of a job that was taken over is none any more."""
        try:
            await self._patiently(
                lambda: super(PatientConnector, self).execute_query_async(query, **arguments)
            )
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException) or _JOB_IS_GONE not in str(
                error.__cause__
            ):
                raise
            logger.info("a job ended that this worker had lost: %s", error.__cause__.diag.message_primary)

    @override
    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """Execute a statement with one row."""
        return await self._patiently(
            lambda: super(PatientConnector, self).execute_query_one_async(query, **arguments)
        )

    @override
    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """Execute a statement with any number of rows."""
        return await self._patiently(
            lambda: super(PatientConnector, self).execute_query_all_async(query, **arguments)
        )

    @override
    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen, on a new connection after each loss."""
        await self._patiently(
            lambda: super(PatientConnector, self).listen_notify(on_notification, list(channels))
        )

    async def _open(self, pool: Any) -> None:
        try:
            await super().open_async(pool)
        except psycopg.Error:
            # A pool that could not be opened is closed, and cannot be opened again.
            self._async_pool = None
            raise

    async def _patiently(self, operation: Callable[[], Awaitable[Value]]) -> Value:
        told = False
        while True:
            try:
                return await operation()
            except (ConnectorException, psycopg.OperationalError) as error:
                if not self._patient or not _is_outage(error):
                    raise
                if not told:
                    logger.warning("the queue waits for the database: %s", error.__cause__ or error)
                    told = True
            await asyncio.sleep(PAUSE_SECONDS)


def _is_outage(error: BaseException) -> bool:
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)

"""The job queue's connection to the database, which waits through outages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import LISTEN_TIMEOUT, Notify
from procrastinate.exceptions import ConnectorException
from typing_extensions import override

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.25
# Shorter than the pool's default of 30 s: when a connection is not ready by then, the pool requests another.
_POOL_SECONDS = 2.0
_JOB_IS_GONE = "Job was not found"

Value = TypeVar("Value")


class PatientConnector(PsycopgConnector):
    """Repeats calls that failed because the database was unavailable, until `give_up` is called.

    The queue's worker ends when one of its statements fails, and it takes its running jobs with it: a second
    without the database would cost hours of an agent's work. A repeated statement may have been carried out
    already if only its reply was lost. This is safe because the sweep finds jobs that were fetched but never
    started.
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
                # The same limit as for SQLAlchemy sessions: a process that is stopped half-way must not keep
                # a job locked.
                "options": "-c idle_in_transaction_session_timeout=10s",
            },
        )
        self._patient = True
        self._listening = _Outage()

    def give_up(self) -> None:
        """Let statements fail from now on, because the process is shutting down."""
        self._patient = False

    @override
    async def open_async(self, pool: Any = None) -> None:
        """Open the pool as soon as the database answers."""
        await self._patiently(lambda: self._open(pool))

    @override
    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Execute a statement without a result.

        Finishing a job that another worker has taken over is logged and is not an error.
        """
        try:
            await self._patiently(
                lambda: super(PatientConnector, self).execute_query_async(query, **arguments)
            )
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException) or _JOB_IS_GONE not in str(
                error.__cause__
            ):
                raise
            logger.info(
                "a job that another worker had taken over ended: %s", error.__cause__.diag.message_primary
            )

    @override
    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """Execute a statement that returns one row."""
        return await self._patiently(
            lambda: super(PatientConnector, self).execute_query_one_async(query, **arguments)
        )

    @override
    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """Execute a statement that returns any number of rows."""
        return await self._patiently(
            lambda: super(PatientConnector, self).execute_query_all_async(query, **arguments)
        )

    @override
    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen for notifications, and reconnect after each loss of the connection."""
        await self._patiently(
            lambda: super(PatientConnector, self).listen_notify(on_notification, list(channels)),
            self._listening,
        )

    # The library calls it for each connection on which it listens, and connects again when it returns.
    @override
    async def _loop_notify(
        self, on_notification: Notify, connection: psycopg.AsyncConnection, timeout: float = LISTEN_TIMEOUT
    ) -> None:
        self._listening.end()
        await super()._loop_notify(on_notification, connection, timeout)
        self._listening.begin("the connection for notifications was closed")

    async def _open(self, pool: Any) -> None:
        try:
            await super().open_async(pool)
        except psycopg.Error:
            # A pool that failed to open is closed and cannot be opened again, so the next try creates a new
            # one.
            self._async_pool = None
            raise

    async def _patiently(
        self, operation: Callable[[], Awaitable[Value]], outage: "_Outage | None" = None
    ) -> Value:
        outage = outage or _Outage()
        while True:
            try:
                result = await operation()
            except (ConnectorException, psycopg.OperationalError) as error:
                if not self._patient or not _is_outage(error):
                    raise
                outage.begin(error.__cause__ or error)
            else:
                outage.end()
                return result
            await asyncio.sleep(PAUSE_SECONDS)


@dataclass(slots=True)
class _Outage:
    """A time without the database; its beginning and its end are logged once each."""

    lasts: bool = False

    def begin(self, cause: object) -> None:
        if not self.lasts:
            logger.warning("the job queue is waiting for the database: %s", cause)
        self.lasts = True

    def end(self) -> None:
        if self.lasts:
            logger.info("the job queue has its database again")
        self.lasts = False


def _is_outage(error: BaseException) -> bool:
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)

"""Connections to Postgres: one engine for each process."""

import json
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from typing_extensions import override

from app.core.errors import InvalidInputError
from app.db.direct import DirectPool
from app.schemas.text import storable_document, storable_json

IDLE_IN_TRANSACTION = "10s"

DIRECT_CONNECTIONS = 10

_SESSION = {
    "application_name": "phaserunner",
    "jit": "off",
    # A process that is stopped or cut off in the middle of a transaction would keep a run locked.
    "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION,
}


class Sessions(async_sessionmaker[AsyncSession]):
    """Opens short sessions; their objects stay readable afterwards.

    `async with sessions.begin() as session` is one transaction. `async with sessions() as session` only
    reads, with each statement alone. At the isolation level of our transactions (read committed) a
    transaction would see the same, at the cost of two more messages to the server.

    Attributes:
        direct: the driver's pool on the same database; it is closed with the engine.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        super().__init__(engine.execution_options(isolation_level="AUTOCOMMIT"), expire_on_commit=False)
        self._writing = async_sessionmaker(engine, expire_on_commit=False)
        url = plain_url(engine.url.render_as_string(hide_password=False))
        self.direct = DirectPool(url, _SESSION, limit=DIRECT_CONNECTIONS)
        event.listen(engine.sync_engine, "engine_disposed", self._close_direct)

    # SQLAlchemy's signature promises a class that only it can create; callers use it
    # only as a context manager.
    @override
    def begin(self) -> AbstractAsyncContextManager[AsyncSession]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Open a transaction that commits at the end of the block."""
        return self._writing.begin()

    def _close_direct(self, _engine: object) -> None:
        self.direct.close()


def plain_url(url: str) -> str:
    """Return the URL in the form that libpq and asyncpg read: `postgresql://…`, without a SQLAlchemy driver.

    Raises:
        InvalidInputError: the URL is not one of Postgres.
    """
    parts = urlsplit(url)
    dialect = parts.scheme.partition("+")[0]
    if dialect not in ("postgresql", "postgres"):
        raise InvalidInputError(
            "it must start with postgresql://; PhaseRunner runs on Postgres only", field="DATABASE_URL"
        )
    return urlunsplit(parts._replace(scheme="postgresql"))


def sqlalchemy_url(url: str) -> str:
    """Return the URL for SQLAlchemy's asyncpg dialect."""
    return plain_url(url).replace("postgresql://", "postgresql+asyncpg://", 1)


def create_engine(url: str, *, pool_size: int) -> AsyncEngine:
    """Create the engine, which connects on first use."""
    return create_async_engine(
        sqlalchemy_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=False,
        pool_recycle=1800,
        json_serializer=_storable_json,
        connect_args={"server_settings": dict(_SESSION)},
    )


def create_sessions(engine: AsyncEngine) -> Sessions:
    """Create the session factory."""
    return Sessions(engine)


def _storable_json(value: object) -> str:
    # jsonb can store neither NUL nor lone surrogates, so they are replaced visibly, as in text columns.
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # it has NaN or an infinity, which are rare
        text = json.dumps(storable_json(value), ensure_ascii=False, allow_nan=False)
    return storable_document(text.encode("utf-8", "replace").decode("utf-8"))


# Sorting and hashing 100,000 runs fits in this memory; with the default, Postgres writes files. Compiling the
# expressions would take longer than evaluating them.
_ROOM = text("SELECT set_config('work_mem', '64MB', true), set_config('jit', 'off', true)")


async def begin_measuring(session: AsyncSession) -> None:
    """Begin the transaction of a report, in which all figures are of the same moment."""
    await session.connection(
        execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    await session.execute(_ROOM)

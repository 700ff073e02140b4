"""Connections to Postgres: one engine for each process."""

import json
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from app.core.errors import InvalidInputError

IDLE_IN_TRANSACTION = "10s"

Sessions = async_sessionmaker[AsyncSession]
"""Opens short sessions; `async with sessions.begin() as session` is one transaction."""

_SESSION = {
    "application_name": "phaserunner",
    "jit": "off",
    # Whoever is stopped in the middle of a transaction, or gone with his machine, keeps a run locked.
    "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION,
}


def plain_url(url: str) -> str:
    """The URL as libpq and asyncpg read it: `postgresql://…`, without a SQLAlchemy driver.

    Raises:
        InvalidInputError: it is not a Postgres URL.
    """
    parts = urlsplit(url)
    dialect = parts.scheme.partition("+")[0]
    if dialect not in ("postgresql", "postgres"):
        raise InvalidInputError(
            "it must start with postgresql://; PhaseRunner runs on Postgres only", field="DATABASE_URL"
        )
    return urlunsplit(parts._replace(scheme="postgresql"))


def sqlalchemy_url(url: str) -> str:
    """The same URL for SQLAlchemy's asyncpg dialect."""
    return plain_url(url).replace("postgresql://", "postgresql+asyncpg://", 1)


def create_engine(url: str, *, pool_size: int) -> AsyncEngine:
    """Make the engine; it connects when it is first used."""
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
    """Make the session factory; objects stay readable after their transaction."""
    return async_sessionmaker(engine, expire_on_commit=False)


def _storable_json(value: object) -> str:
    # jsonb has neither NUL nor lone surrogates: they are replaced visibly, as in text columns.
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    return text.replace("\\u0000", "\\u2400")

"""Runs the migrations over asyncpg; the job queue's tables belong to the queue and are left out."""

import asyncio

from alembic import context
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from app.core.errors import DatabaseSetupError
from app.db.engine import sqlalchemy_url
from app.db.models import Base

# Arbitrary, but ours: whoever migrates holds this advisory lock, so that two servers starting at once do not.
MIGRATION_LOCK = 7_316_451_902


def include_name(name: str | None, kind: str, _parents: object) -> bool:
    """Leave out what the job queue's own schema file makes."""
    return not (kind == "table" and name is not None and name.startswith("procrastinate_"))


def require_utf8(connection: Connection) -> None:
    """Refuse other encodings: they reject some text of agents, and the job queue cannot read SQL_ASCII."""
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise DatabaseSetupError(
            f"the database has the encoding {encoding}; PhaseRunner needs UTF8. Create it with: createdb "
            "--template=template0 --encoding=UTF8 NAME. Nothing was changed"
        )


def run(connection: Connection) -> None:
    """Migrate over one connection, in one transaction."""
    context.configure(connection=connection, target_metadata=Base.metadata, include_name=include_name)
    with context.begin_transaction():
        require_utf8(connection)
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        context.run_migrations()


async def main() -> None:
    """Connect and migrate."""
    given = context.get_x_argument(as_dictionary=True).get("url")
    url = given or context.config.get_main_option("sqlalchemy.url")
    if not url:
        raise SystemExit("no database given: alembic -x url=postgresql://… upgrade head")
    engine = create_async_engine(sqlalchemy_url(url), poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()


asyncio.run(main())

"""Brings a database to the newest schema."""

import re
from pathlib import Path

import anyio.to_thread
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from app.core.errors import DatabaseSetupError
from app.db.engine import sqlalchemy_url

_UNKNOWN_REVISION = re.compile(r"Can't locate revision identified by '([^']*)'")


def migrations_directory() -> Path:
    """Return the directory of the migrations: beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_migrations"
    return packaged if packaged.is_dir() else package.parent / "migrations"


def alembic_config(url: str) -> Config:
    """Return Alembic's configuration for the database at `url`."""
    config = Config()
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    config.set_main_option("sqlalchemy.url", sqlalchemy_url(url).replace("%", "%%"))
    return config


def newest_revision() -> str:
    """Return the schema that this version of the program works with."""
    return ScriptDirectory(str(migrations_directory())).get_current_head() or ""


def known_revisions() -> frozenset[str]:
    """Return every schema that this version of the program knows."""
    script = ScriptDirectory(str(migrations_directory()))
    return frozenset(each.revision for each in script.walk_revisions())


def unknown_schema(revision: str) -> DatabaseSetupError:
    """Return the error for a database with a schema of a newer version of the program."""
    return DatabaseSetupError(
        f"the database has the schema {revision}, which this version does not know; it knows up "
        f"to {newest_revision()}. Start the newer version again, or restore the dump from before its "
        "upgrade. Nothing was changed"
    )


async def upgrade_to_head(url: str) -> None:
    """Apply every missing migration; several processes may call this at the same time.

    Raises:
        DatabaseSetupError: the database's encoding is not UTF8, or a newer version of the program made the
            schema; nothing is changed.
    """
    await anyio.to_thread.run_sync(_upgrade, alembic_config(url))


def _upgrade(config: Config) -> None:
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        unknown = _UNKNOWN_REVISION.search(str(error))
        if unknown is None:
            raise
        raise unknown_schema(unknown.group(1)) from error

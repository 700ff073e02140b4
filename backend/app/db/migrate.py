"""Brings a database to the newest schema."""

from pathlib import Path

import anyio.to_thread
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

import app
from app.db.engine import sqlalchemy_url


def migrations_directory() -> Path:
    """Where the migrations are: beside the package in a checkout, inside it in a wheel."""
    package = Path(app.__file__).parent
    packaged = package / "_migrations"
    return packaged if packaged.is_dir() else package.parent / "migrations"


def alembic_config(url: str) -> Config:
    """Alembic's configuration for the database at `url`."""
    config = Config()
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    config.set_main_option("sqlalchemy.url", sqlalchemy_url(url).replace("%", "%%"))
    return config


def newest_revision() -> str:
    """The schema this version of the program works with."""
    return ScriptDirectory(str(migrations_directory())).get_current_head() or ""


async def upgrade_to_head(url: str) -> None:
    """Apply every migration that is missing; several processes may ask at once."""
    await anyio.to_thread.run_sync(command.upgrade, alembic_config(url), "head")

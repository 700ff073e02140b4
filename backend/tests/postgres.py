"""Databases for tests: a server of their own, one migrated template, a fresh copy for whoever asks."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from alembic import command

from app.db.embedded.server import acquire
from app.db.migrate import alembic_config

# Nothing here outlives the tests, so nothing has to reach a disk.
_UNSAFE_AND_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB")
_NEEDED_BYTES = 2_000_000_000
_GONE_SECONDS = 300.0
_TEMPLATE = "phaserunner_template"


def fast_place() -> str | None:
    """Where files never reach a disk, if there is room."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _NEEDED_BYTES:
        return str(memory)
    return None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server's maintenance database, as superuser; `TEST_DATABASE_URL` names another one."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    with throwaway_server() as url:
        yield url


@contextmanager
def throwaway_server() -> Iterator[str]:
    """The URL of the maintenance database of a server that is gone at the end of the block."""
    home = tempfile.mkdtemp(prefix="phaserunner test ", dir=fast_place())
    os.chmod(home, 0o755)
    lease = acquire(Path(home), options=_UNSAFE_AND_FAST, throwaway=True)
    try:
        yield with_database(lease.url, "postgres")
    finally:
        lease.release()
        # The server and its files are the reaper's, also when this process is killed: nothing is taken away
        # from under a server that runs.
        wait_until_gone(lease.home)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_template(postgres_server: str) -> Iterator[str]:
    """The name of a database with the newest schema, made by the migrations."""
    name = f"{_TEMPLATE}_{uuid4().hex[:8]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        command.upgrade(alembic_config(with_database(postgres_server, name)), "head")
        yield name
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def fresh_database(server: str, template: str) -> Iterator[str]:
    """A copy of a template, dropped at the end of the block."""
    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    try:
        yield with_database(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """A database of this test alone, with the newest schema."""
    with fresh_database(postgres_server, migrated_template) as url:
        yield url


@pytest.fixture(scope="module")
def module_database_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """A database that the tests of a module share."""
    with fresh_database(postgres_server, migrated_template) as url:
        yield url


@pytest.fixture
def empty_database_url(postgres_server: str) -> Iterator[str]:
    """A database of this test alone, without any schema."""
    with fresh_database(postgres_server, "template0") as url:
        yield url


def with_database(url: str, name: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def wait_until_gone(path: Path) -> None:
    """Wait for a reaper to delete a throwaway cluster; gives up quietly, for the end of a session."""
    deadline = time.monotonic() + _GONE_SECONDS
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)

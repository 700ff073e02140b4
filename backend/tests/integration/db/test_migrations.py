"""The schema: upgrades, downgrades, and the models in step with it, on a database that holds data."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from alembic import command

import app
from app.core.errors import DatabaseSetupError
from app.db.migrate import alembic_config, upgrade_to_head
from tests.patience import PATIENCE

RUN = """
INSERT INTO runs (id, kind, name, goal, phases, phase, policy, agent, source, status, base_commit,
                  head_commit, created_by)
VALUES (%s, 'sprint', 'n', 'g', '{coding}', 'coding', '{}', '{}', '{}', 'queued', 'c', 'c', 'me')
"""


def test_models_and_migrations_agree(database_url: str) -> None:
    command.check(alembic_config(database_url))


def test_downgrade_and_upgrade_with_data(database_url: str) -> None:
    config = alembic_config(database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        run_id = uuid4()
        connection.execute(RUN, [run_id])
        command.downgrade(config, "0001")
        assert connection.execute("SELECT id FROM runs").fetchall() == [(run_id,)]
        assert connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,)
        command.upgrade(config, "head")
        assert connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone() == (0,)
        command.downgrade(config, "base")
        left = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        assert left == [("alembic_version",)]
        command.upgrade(config, "head")


def test_upgrading_from_several_processes_at_once(empty_database_url: str) -> None:
    code = (
        "import asyncio, sys; from app.db.migrate import upgrade_to_head; "
        "asyncio.run(upgrade_to_head(sys.argv[1]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[1])}
    processes = [
        subprocess.Popen([sys.executable, "-c", code, empty_database_url], env=environment) for _ in range(3)
    ]
    assert [each.wait(timeout=PATIENCE) for each in processes] == [0, 0, 0]
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)


@pytest.mark.anyio
async def test_a_newer_schema_is_refused_by_name_and_left_alone(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999_of_the_future'")
        with pytest.raises(DatabaseSetupError, match="9999_of_the_future"):
            await upgrade_to_head(database_url)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [
            ("9999_of_the_future",)
        ]


@pytest.mark.anyio
async def test_another_encoding_is_refused_with_the_command_that_helps(empty_database_url: str) -> None:
    name = f"ascii_{uuid4().hex}"
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        url = urlsplit(empty_database_url)._replace(path=f"/{name}").geturl()
        try:
            with pytest.raises(DatabaseSetupError, match=r"encoding SQL_ASCII.*createdb"):
                await upgrade_to_head(url)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


CONSTRAINTS = {
    "unknown status": ("UPDATE runs SET status = 'maybe'", psycopg.errors.CheckViolation),
    "no goal": ("UPDATE runs SET goal = NULL", psycopg.errors.NotNullViolation),
}


@pytest.mark.parametrize(("statement", "error"), CONSTRAINTS.values(), ids=CONSTRAINTS.keys())
def test_the_database_refuses(statement: str, error: type[Exception], database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(RUN, [uuid4()])
        with pytest.raises(error):
            connection.execute(statement)


def test_one_open_escalation_per_run(database_url: str) -> None:
    insert = (
        "INSERT INTO escalations (id, run_id, phase, attempt, reason_kind, reason) "
        "VALUES (%s, %s, 'coding', 1, 'no_progress', 'r')"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        run_id = uuid4()
        connection.execute(RUN, [run_id])
        connection.execute(insert, [uuid4(), run_id])
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(insert, [uuid4(), run_id])

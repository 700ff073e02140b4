"""A newer version migrates the database while processes of the old one are at work."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.projects import MENDED, make_repository, script, step, write
from tests.acceptance.server import BACKEND, ok, serving, until_rest
from tests.patience import PATIENCE

NEWER = "9999_of_a_newer_version"


def set_revision(database_url: str, revision: str) -> str:
    """Write the schema's revision as a migration would, and return the one before."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        assert row is not None
        connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))
        return row[0]


def test_an_old_service_hands_its_run_over_and_ends(database_url: str, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    slow = {**write("shares.py", MENDED), "pause_seconds": 5.0}
    agent = script(step("Mended. Coding Complete", *[slow] * 20))
    short = {"SHUTDOWN_GRACE_SECONDS": "0.2"}
    with serving(database_url, tmp_path / "data", env=short) as old, old.client() as client:
        body = {
            "goal": "half(8) must be 4.",
            "source": {"kind": "local", "path": str(repo)},
            "agent": agent,
            "phases": ["coding"],
        }
        sprint = ok(client.post("/sprints", json=body))
        known = set_revision(database_url, NEWER)
        assert old.process.wait(timeout=PATIENCE) != 0
        assert f"the database has the schema {NEWER}, which this version does not know" in old.log.read_text()
    # The newer version: in the test the same program again, with the schema that it knows.
    set_revision(database_url, known)
    with serving(database_url, tmp_path / "data", env=short) as new, new.client() as client:
        run = ok(client.get(f"/runs/{sprint['id']}"))
        assert run["status"] in {"queued", "active"}
        ok(client.post(f"/runs/{sprint['id']}/cancel", json={"reason": "seen"}))
        assert until_rest(client, sprint["id"])["status"] == "cancelled"


@pytest.mark.parametrize("command", ["worker", "serve"])
def test_an_old_process_does_not_start_on_a_newer_schema(
    command: str, database_url: str, tmp_path: Path
) -> None:
    with serving(database_url, tmp_path / "data"):
        pass  # migrates
    set_revision(database_url, NEWER)
    ended = subprocess.run(
        [sys.executable, "-m", "app.cli.main", command],
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(BACKEND),
            "DATABASE_URL": database_url,
            "DATA_DIR": str(tmp_path / "other"),
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "PORT": "0",
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode != 0
    assert f"the schema {NEWER}, which this version does not know" in ended.stderr

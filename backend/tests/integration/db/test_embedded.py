"""The life of an embedded server: who starts it, who stops it, what survives."""

import os
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded import Lease, ensure_running, server_status
from app.db.embedded.binaries import usable_binaries
from app.db.embedded.cluster import Cluster
from app.db.embedded.locks import is_taken
from app.db.embedded.server import acquire
from tests.integration.db.embedded_support import (
    FAST,
    eventually,
    is_stopped_cleanly,
    leased,
    postmaster,
    remember,
    remembered,
    user_of,
    wait_until_stopped,
)


def home_of(data_dir: Path) -> Path:
    return data_dir / "postgres"


@pytest.mark.anyio
async def test_a_cold_start_gives_an_empty_database(data_dir: Path) -> None:
    lease = await ensure_running(data_dir)
    try:
        with psycopg.connect(lease.url) as connection:
            found = connection.execute(
                "SELECT current_database(), current_user, current_setting('server_encoding')"
            ).fetchone()
            listens = connection.execute(
                "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories')"
            ).fetchone()
        assert found == ("phaserunner", "app", "UTF8")
        assert listens == ("127.0.0.1", "")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(lease.url.replace(":", ":not", 2).replace("not//", "//"))
    finally:
        lease.release()
        lease.release()


def test_processes_share_a_server_until_the_last_is_gone(data_dir: Path) -> None:
    with user_of(data_dir) as first:
        url = first.url()
        with user_of(data_dir) as second, leased(data_dir) as third:
            assert second.url() == third.url == url
            first.kill()
            remember(url, "still there")
        wait_until_stopped(home_of(data_dir))
    assert is_stopped_cleanly(home_of(data_dir))
    with leased(data_dir) as later:
        assert remembered(later.url) == ["still there"]


def test_cold_starters_at_once_get_one_server(data_dir: Path) -> None:
    with ExitStack() as stack:
        users = [stack.enter_context(user_of(data_dir)) for _ in range(3)]
        urls = {user.url() for user in users}
        assert len(urls) == 1
        remember(urls.pop(), "reachable")


def test_a_killed_user_leaves_no_server(data_dir: Path) -> None:
    with user_of(data_dir) as user:
        assert user.url()
        assert not is_stopped_cleanly(home_of(data_dir))
        user.kill()
        wait_until_stopped(home_of(data_dir))
    assert is_stopped_cleanly(home_of(data_dir))


def test_a_user_killed_while_it_starts_leaves_no_server(data_dir: Path) -> None:
    with leased(data_dir):
        pass
    wait_until_stopped(home_of(data_dir))
    log = Cluster(home_of(data_dir)).log
    log.unlink()
    with user_of(data_dir) as user:
        eventually(log.exists, "the launch")
        user.kill()
        wait_until_stopped(home_of(data_dir))
    with leased(data_dir) as lease:
        remember(lease.url, "usable")


def test_a_throwaway_cluster_is_deleted_with_its_server(data_dir: Path) -> None:
    lease = acquire(data_dir, options=FAST, throwaway=True)
    lease.release()
    eventually(lambda: not data_dir.exists(), "the deletion")


def _keep_busy(url: str, until: Path) -> None:
    # A process that computes does not notice that its server is dead.
    with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "DO $$ DECLARE latest timestamptz := clock_timestamp() + interval '60 seconds'; "
            f"BEGIN WHILE pg_stat_file('{until}', true) IS NULL AND clock_timestamp() < latest "
            "LOOP END LOOP; END $$"
        )


def test_a_killed_server_is_recovered_though_a_process_of_it_lives_on(data_dir: Path) -> None:
    stop = data_dir / "stop"
    with leased(data_dir) as before:
        remember(before.url, "committed")
        busy = threading.Thread(target=_keep_busy, args=[before.url, stop])
        busy.start()
        with psycopg.connect(before.url, autocommit=True) as watcher:
            query = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'"
            eventually(lambda: watcher.execute(query).fetchone() == (1,), "the work")
        os.kill(postmaster(before.home), 9)
        threading.Timer(0.3, stop.touch).start()
        with leased(data_dir) as after:
            assert remembered(after.url) == ["committed"]
        busy.join()


def test_a_killed_server_is_started_again_at_its_port(data_dir: Path) -> None:
    with leased(data_dir) as lease, leased(data_dir) as other:
        assert not lease.revive()
        remember(lease.url, "committed")
        os.kill(postmaster(lease.home), 9)
        eventually(lease.revive, "the new start")
        assert remembered(other.url) == ["committed"]
        assert not other.revive()
    wait_until_stopped(home_of(data_dir))
    assert is_stopped_cleanly(home_of(data_dir))


def test_who_finds_a_server_killed_gives_it_its_port_again(data_dir: Path) -> None:
    with leased(data_dir) as before:
        remember(before.url, "committed")
        os.kill(postmaster(before.home), 9)
        with leased(data_dir) as after:
            assert after.url == before.url
            assert not before.revive()


def test_a_server_whose_port_is_taken_meanwhile_gets_another_one(data_dir: Path) -> None:
    with leased(data_dir) as before:
        remember(before.url, "committed")
        os.kill(postmaster(before.home), 9)
        eventually(lambda: not is_taken(Cluster(before.home).lock("server")), "the end of the server")
        with socket.create_server(("127.0.0.1", urlsplit(before.url).port or 0)):
            for _ in range(2):
                with pytest.raises(DatabaseSetupError, match="restart this process"):
                    before.revive()
            with leased(data_dir) as after:
                assert remembered(after.url) == ["committed"]


def test_data_keep_the_version_that_made_them(data_dir: Path) -> None:
    newest, *older = usable_binaries()
    other = next((each for each in older if each.major != newest.major), None)
    if other is None:
        pytest.skip("there is only one version of Postgres here")
    for directories in ([other.directory], None):
        lease = acquire(data_dir, options=FAST, directories=directories)
        with psycopg.connect(lease.url) as connection:
            assert connection.info.server_version // 10_000 == int(other.major)
        lease.release()
        wait_until_stopped(lease.home)


def _stop_and_leave_pid_file(data_dir: Path, pid: int | None = None) -> None:
    """What a power cut leaves: a file whose process id may belong to anybody, or to the next server."""
    with leased(data_dir) as lease:
        left = Cluster(lease.home).pid_file.read_text()
    wait_until_stopped(home_of(data_dir))
    lines = left.splitlines()
    if pid is not None:
        lines[0] = str(pid)
    file = Cluster(home_of(data_dir)).pid_file
    file.write_text("\n".join(lines) + "\n")
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)


@pytest.mark.parametrize("pid", [None, 1, os.getpid()], ids=["gone", "init", "ours"])
def test_a_stale_pid_file_does_no_harm(pid: int | None, data_dir: Path) -> None:
    _stop_and_leave_pid_file(data_dir, pid)
    with leased(data_dir) as lease:
        remember(lease.url, "works")


def test_data_that_are_moved_away_can_come_back(data_dir: Path) -> None:
    with leased(data_dir) as lease:
        remember(lease.url, "precious")
    wait_until_stopped(home_of(data_dir))
    data = Cluster(home_of(data_dir)).data
    data.rename(data.with_name("kept"))
    with leased(data_dir) as empty, psycopg.connect(empty.url) as connection:
        assert connection.execute("SELECT to_regclass('words')").fetchone() == (None,)
    wait_until_stopped(home_of(data_dir))
    data.rename(data.with_name("empty"))
    data.with_name("kept").rename(data)
    with leased(data_dir) as lease:
        assert remembered(lease.url) == ["precious"]


def test_the_environment_neither_leaks_nor_leads_astray(data_dir: Path) -> None:
    environment = {
        "OPENAI_API_KEY": "sk-secret",
        "PGHOSTADDR": "192.0.2.1",
        "PGSSLMODE": "require",
        "PGPORT": "1",
        "PGOPTIONS": "-c nonsense=1",
        "LC_ALL": "xx_XX.nonsense",
    }
    with user_of(data_dir, environment) as user:
        url = user.url()
        running = postmaster(home_of(data_dir))
        remember(url, "reachable")
        inherited = Path(f"/proc/{running}/environ")
        if inherited.exists():
            assert b"sk-secret" not in inherited.read_bytes()


def test_status_changes_nothing(data_dir: Path) -> None:
    before = server_status(data_dir)
    assert (before.exists, before.port) == (False, None)
    assert not data_dir.exists()
    with leased(data_dir) as lease:
        status = server_status(data_dir)
        assert f":{status.port}/" in lease.url
        assert status.exists
        assert status.home == lease.home
    wait_until_stopped(home_of(data_dir))
    after = server_status(data_dir)
    assert (after.exists, after.port) == (True, None)


def test_a_lease_is_a_lease_for_one_process_only(data_dir: Path) -> None:
    one: Lease = acquire(data_dir, options=FAST)
    with leased(data_dir) as another:
        one.release()
        remember(another.url, "held by the other lease")

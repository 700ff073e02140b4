"""Starts the embedded server when it is needed and keeps it running while somebody holds a lease."""

import fcntl
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import anyio.to_thread
import psycopg

from app.core.errors import DatabaseSetupError
from app.db.embedded import reaper
from app.db.embedded.account import Account, place_for, reachable_binaries, server_account
from app.db.embedded.binaries import Binaries, find_binaries
from app.db.embedded.cluster import DATABASE, Cluster, ensure_cluster, explain, prepare_home

logger = logging.getLogger(__name__)

START_SECONDS = 60.0
PORT_TRIES = 5
_POLL_SECONDS = 0.02
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    # No socket file: its path may be 107 characters long at most.
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_min_messages": "warning",
}


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of an embedded server; `port` is None when it does not run."""

    home: Path
    binaries: Path
    version: str
    exists: bool
    port: int | None


class Lease:
    """The right to use the server: it runs until the last lease is released or its process is gone."""

    def __init__(self, url: str, home: Path, lock: IO[str]) -> None:
        self.url = url
        self.home = home
        self._lock = lock

    def release(self) -> None:
        """Give the right back."""
        self._lock.close()


async def ensure_running(data_dir: Path) -> Lease:
    """Give a lease on the server whose cluster belongs to `data_dir`; it is made and started if need be.

    Raises:
        DatabaseSetupError: why there cannot be one, and what to do.
    """
    return await anyio.to_thread.run_sync(acquire, data_dir)


def acquire(data_dir: Path, *, options: Sequence[str] = (), throwaway: bool = False) -> Lease:
    """The same without an event loop.

    Args:
        data_dir: what the cluster belongs to.
        options: further `name=value` settings of the server, for tests.
        throwaway: delete the cluster when its last user is gone.
    """
    account = server_account()
    binaries = reachable_binaries(find_binaries(), account)
    cluster = Cluster(place_for(data_dir, account))
    prepare_home(cluster, account)
    try:
        lock = (cluster.home / "users.lock").open("a")
    except OSError as error:
        raise DatabaseSetupError(f"{cluster.home} cannot be written to: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with _starting(cluster):
            _start_reaper(cluster, throwaway=throwaway)
            ensure_cluster(cluster, binaries, account)
            port = _running_port(cluster) or _start(cluster, binaries, account, options)
            _ensure_database(cluster, port)
    except BaseException:
        lock.close()
        raise
    return Lease(cluster.url(port), cluster.home, lock)


def server_status(data_dir: Path) -> ServerStatus:
    """Look at the server without starting anything.

    Raises:
        DatabaseSetupError: there are no binaries.
    """
    account = server_account()
    binaries = find_binaries()
    cluster = Cluster(place_for(data_dir, account))
    exists = (cluster.data / "PG_VERSION").is_file()
    port = _port_in(cluster.pid_file) if reaper.postmaster_pid(cluster.pid_file) else None
    return ServerStatus(cluster.home, binaries.directory, binaries.version, exists, port)


@contextmanager
def _starting(cluster: Cluster) -> Generator[None]:
    with (cluster.home / "start.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start_reaper(cluster: Cluster, *, throwaway: bool) -> None:
    with (cluster.home / "reaper.lock").open("a") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    process = subprocess.Popen(
        [sys.executable, "-I", reaper.__file__, str(cluster.home), *(["--remove"] if throwaway else [])],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _let_go(process)


def _running_port(cluster: Cluster) -> int | None:
    """The port of the running server, waiting while it starts or recovers; None when it does not run."""
    if not cluster.pid_file.exists():
        return None
    if reaper.postmaster_pid(cluster.pid_file) is None:
        # Left by a server that was killed; its process id may belong to somebody else by now.
        cluster.pid_file.unlink(missing_ok=True)
        return None
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        port = _port_in(cluster.pid_file)
        if port is not None and _answers(cluster, port):
            return port
        if reaper.postmaster_pid(cluster.pid_file) is None:
            return None
        time.sleep(_POLL_SECONDS)
    raise DatabaseSetupError(
        f"the server in {cluster.home} runs but does not answer within {START_SECONDS:g} seconds; "
        f"see {cluster.log}"
    )


def _start(cluster: Cluster, binaries: Binaries, account: Account, options: Sequence[str]) -> int:
    said = ""
    for _ in range(PORT_TRIES):
        port = _free_port()
        process = _launch(cluster, binaries, account, port, options)
        if _wait_until_up(cluster, process, port):
            logger.info("Postgres %s runs on port %d, data in %s", binaries.version, port, cluster.home)
            return port
        said = _tail(cluster.log)
        if "Address already in use" not in said:
            break
    raise DatabaseSetupError(
        f"the database in {cluster.home} does not start: {explain(said)}; see {cluster.log}"
    )


def _launch(
    cluster: Cluster, binaries: Binaries, account: Account, port: int, options: Sequence[str]
) -> subprocess.Popen[Any]:
    settings = [f"{name}={value}" for name, value in _OPTIONS.items()] + list(options)
    command = [binaries.path("postgres"), "-D", str(cluster.data), "-p", str(port)]
    for each in settings:
        command += ["-c", each]
    with cluster.log.open("wb") as log:
        account.own(cluster.log)
        return subprocess.Popen(
            command,
            cwd=cluster.home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **account.process_options(),
        )


def _wait_until_up(cluster: Cluster, process: subprocess.Popen[Any], port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if _answers(cluster, port):
            _let_go(process)
            return True
        time.sleep(_POLL_SECONDS)
    process.kill()
    process.wait()
    return False


def _let_go(process: subprocess.Popen[Any]) -> None:
    # It outlives us on purpose; without a return code Python warns when the object is collected.
    process.returncode = 0


def _answers(cluster: Cluster, port: int) -> bool:
    try:
        with psycopg.connect(cluster.url(port, "postgres"), connect_timeout=3) as connection:
            found = connection.execute("SHOW data_directory").fetchone()
    except psycopg.OperationalError:
        return False
    return found is not None and os.path.realpath(str(found[0])) == os.path.realpath(cluster.data)


def _ensure_database(cluster: Cluster, port: int) -> None:
    with psycopg.connect(cluster.url(port, "postgres"), autocommit=True) as connection:
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if found is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def _port_in(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().splitlines()[3])
    except (OSError, ValueError, IndexError):
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _tail(path: Path, characters: int = 4_000) -> str:
    try:
        return path.read_text(errors="replace")[-characters:]
    except OSError:
        return ""

"""Finds the running server process, or starts one."""

import logging
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from app.core.errors import DatabaseSetupError
from app.db.embedded import reaper
from app.db.embedded.account import ServerAccount
from app.db.embedded.binaries import CLEAN_ENVIRONMENT, Binaries
from app.db.embedded.cluster import Cluster, explain
from app.db.embedded.database import ensure_database
from app.db.embedded.locks import is_taken, take_lock

logger = logging.getLogger(__name__)

START_SECONDS = 300.0  # recovery after a crash may take long
LEFTOVER_SECONDS = 60.0
PORT_TRIES = 5
_POLL_SECONDS = 0.02
_LOG_CHARACTERS = 4_000
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    # No socket file, because its path may have at most 107 characters.
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_min_messages": "warning",
}


def ready_port(cluster: Cluster) -> int | None:
    """Return the port on which the cluster's server takes connections; None if there is none yet."""
    if reaper.postmaster_pid(cluster.data) is None:
        return None
    lines = _recorded(cluster).splitlines()
    return _recorded_port(cluster) if lines[7:8] and lines[7].strip() == "ready" else None


def running_port(cluster: Cluster) -> int | None:
    """Return the port of the running server once its database exists; None if no server process is left.

    Waits for the processes that a killed server left behind. The caller holds the start lock.

    Raises:
        DatabaseSetupError: processes of a server are left, but it does not answer.
    """
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while is_taken(cluster.lock("server")):
        port = ready_port(cluster)
        if port is not None and ensure_database(cluster, port):
            return port
        if time.monotonic() > deadline:
            raise DatabaseSetupError(
                f"a server uses {cluster.data}, but it cannot be reached from here. If it belongs to another "
                "container, give this one its own DATA_DIR or name a server in DATABASE_URL; otherwise end "
                f"its processes; see {cluster.log}"
            )
        time.sleep(_POLL_SECONDS)
    return None


def start(cluster: Cluster, binaries: Binaries, account: ServerAccount, options: Sequence[str]) -> int:
    """Start the server, wait until the database can be used, and return the port.

    A server that was killed gets its port again, because its users still connect to that one. The caller
    holds the start lock.

    Raises:
        DatabaseSetupError: the server does not start.
        OSError: a file cannot be written, or the program cannot be started.
    """
    said = ""
    with take_lock(cluster.lock("server"), seconds=LEFTOVER_SECONDS) as lock:
        before = _recorded_port(cluster)
        _forget_reused_pid(cluster)
        for number in range(PORT_TRIES):
            port = before if before is not None and number == 0 else _free_port()
            stale = _recorded(cluster)
            process = _launch(cluster, binaries, account, [f"port={port}", *options], lock)
            if _wait_until_ready(cluster, process, stale) and ensure_database(cluster, port):
                logger.info("Postgres %s runs on port %d, data in %s", binaries.version, port, cluster.data)
                return port
            said = _tail(cluster.log)
            if "Address already in use" not in said:
                break
    raise DatabaseSetupError(
        f"the database in {cluster.home} does not start: {explain(said)}; see {cluster.log}"
    )


def let_go(process: subprocess.Popen[Any]) -> None:
    """Detach from a process that deliberately outlives this one; without a return code Python would warn."""
    process.returncode = 0


def _launch(
    cluster: Cluster, binaries: Binaries, account: ServerAccount, settings: Sequence[str], lock: IO[bytes]
) -> subprocess.Popen[Any]:
    # "postgres -D DATA" comes first, because the reaper recognises the server by it.
    command = [binaries.path("postgres"), "-D", str(cluster.data)]
    for setting in [*(f"{name}={value}" for name, value in _OPTIONS.items()), *settings]:
        command += ["-c", setting]
    cluster.log.unlink(missing_ok=True)
    with cluster.log.open("xb") as log:
        return subprocess.Popen(
            command,
            cwd=cluster.data,
            env=CLEAN_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[lock.fileno()],
            start_new_session=True,
            **account.process_options(),
        )


def _wait_until_ready(cluster: Cluster, process: subprocess.Popen[Any], stale: str) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None:
        # In a restarted container, the new server can easily have the process id that is
        # in the old server's file.
        if _recorded(cluster) != stale and ready_port(cluster) is not None:
            let_go(process)
            return True
        if time.monotonic() > deadline:
            let_go(process)
            raise DatabaseSetupError(
                f"the database in {cluster.home} was not ready within {START_SECONDS:g} seconds; "
                f"see {cluster.log}"
            )
        time.sleep(_POLL_SECONDS)
    return False


def _recorded_port(cluster: Cluster) -> int | None:
    try:
        return int(_recorded(cluster).splitlines()[3])
    except (ValueError, IndexError):
        return None


def _recorded(cluster: Cluster) -> str:
    try:
        return cluster.pid_file.read_text()
    except OSError:
        return ""


def _forget_reused_pid(cluster: Cluster) -> None:
    """Remove the pid file of a killed server whose process id now belongs to another process.

    Postgres would take that process for a running server. All other pid files it judges better itself.
    """
    pid = reaper.recorded_pid(cluster.data)
    if pid is not None and reaper.postmaster_pid(cluster.data) is None and _exists(pid):
        cluster.pid_file.unlink(missing_ok=True)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _tail(path: Path) -> str:
    try:
        return path.read_text(errors="replace")[-_LOG_CHARACTERS:]
    except OSError:
        return ""

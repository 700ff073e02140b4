"""Leases of the embedded server, which runs from the first lease to the last."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import anyio.to_thread

from app.core.errors import DatabaseSetupError
from app.db.embedded import reaper
from app.db.embedded.cluster import INITDB_SECONDS, Cluster, choose_binaries, explain, make_cluster
from app.db.embedded.locks import is_taken, take_lock
from app.db.embedded.place import SYSTEM_HOME, find_place, prepare_home, reachable_binaries
from app.db.embedded.postmaster import START_SECONDS, let_go, ready_port, running_port, start

_STOP_SECONDS = 3 * reaper.FAST_SECONDS
_WAIT_SECONDS = INITDB_SECONDS + START_SECONDS


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of an embedded server; `port` is None if it does not run."""

    home: Path
    binaries: Path
    version: str
    exists: bool
    port: int | None


class Lease:
    """The right to use the server, which runs until the last lease is released or its process has ended.

    Attributes:
        url: address of the database.
        home: directory of the cluster.
    """

    def __init__(self, cluster: Cluster, port: int, lock: IO[bytes], launch: Callable[[], int]) -> None:
        self.url = cluster.url(port)
        self.home = cluster.home
        self._cluster = cluster
        self._port = port
        self._lock = lock
        self._launch = launch

    def revive(self) -> bool:
        """Start the server again if all its processes were killed, and return whether they were; blocks.

        Raises:
            DatabaseSetupError: the server does not start, or it now has another port.
            OSError: a file cannot be read or written, or the program cannot be started.
        """
        was_killed = not is_taken(self._cluster.lock("server"))
        if was_killed:
            with take_lock(self._cluster.lock("start"), seconds=_WAIT_SECONDS):
                # Another user of the server may have been quicker.
                port = running_port(self._cluster) or self._launch()
        else:
            port = ready_port(self._cluster)
        if port not in (None, self._port):
            raise DatabaseSetupError(
                f"the database in {self.home} was started again at port {port}, because another program uses "
                f"port {self._port}; restart this process"
            )
        return was_killed

    def release(self) -> None:
        """Release the lease; a second call does nothing."""
        self._lock.close()


async def ensure_running(data_dir: Path) -> Lease:
    """Return a lease on the server of `data_dir`, and create and start the server if necessary.

    Raises:
        DatabaseSetupError: there can be no server; the message says why and what to do.
    """
    return await anyio.to_thread.run_sync(acquire, data_dir)


def acquire(
    data_dir: Path,
    *,
    options: Sequence[str] = (),
    throwaway: bool = False,
    directories: Iterable[Path] | None = None,
    system_home: Path = SYSTEM_HOME,
) -> Lease:
    """Return a lease like `ensure_running`, without an event loop.

    Args:
        data_dir: the directory that the cluster belongs to.
        options: further `name=value` settings of the server, for tests.
        throwaway: whether to delete the cluster after its last user; it is then not synced to disk either.
        directories: where to look for binaries instead of the usual places.
        system_home: where files go that the account could not reach below a closed directory.

    Raises:
        DatabaseSetupError: there can be no server; the message says why and what to do.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        cluster, account = find_place(data_dir, system_home)
        prepare_home(cluster, account, system_home)

        def launch() -> int:
            binaries = choose_binaries(cluster, directories)
            binaries = reachable_binaries(binaries, account, system_home)
            if not cluster.data.exists():
                make_cluster(cluster, binaries, account, sync=not throwaway)
            _start_reaper(cluster, throwaway=throwaway)
            return start(cluster, binaries, account, options)

        with ExitStack() as undo:
            users = undo.enter_context(take_lock(cluster.lock("users"), shared=True, seconds=_STOP_SECONDS))
            with take_lock(cluster.lock("start"), seconds=_WAIT_SECONDS):
                port = running_port(cluster)
                if port is None:
                    port = launch()
                else:
                    _start_reaper(cluster, throwaway=throwaway)
                lease = Lease(cluster, port, users, launch)
            undo.pop_all()
    except OSError as error:
        raise DatabaseSetupError(
            f"the database of {data_dir} cannot be set up: {explain(str(error))}"
        ) from error
    return lease


def server_status(data_dir: Path) -> ServerStatus:
    """Return the state of the server, without starting or changing anything.

    Raises:
        DatabaseSetupError: there is no usable server; the message says why.
    """
    try:
        cluster, _ = find_place(data_dir, SYSTEM_HOME)
        binaries = choose_binaries(cluster)
        return ServerStatus(
            cluster.home, binaries.directory, binaries.version, cluster.data.exists(), ready_port(cluster)
        )
    except OSError as error:
        raise DatabaseSetupError(
            f"the database of {data_dir} cannot be looked at: {explain(str(error))}"
        ) from error


def _start_reaper(cluster: Cluster, *, throwaway: bool) -> None:
    """Start a reaper unless one is running; it must run before the server does."""
    if is_taken(cluster.lock("reaper")):
        return
    process: subprocess.Popen[Any] = subprocess.Popen(
        [sys.executable, "-I", reaper.__file__, str(cluster.home), *(["--remove"] if throwaway else [])],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    let_go(process)

"""The standby process: imports the evaluation code once, and forks a process for each hook that asks.

The forked process runs the command line as if the caller had started it: with the caller's arguments,
environment, working directory and input. It reads the settings again. So no hook sees data of another one.
"""

import fcntl
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from app.cli.standby.place import opened_privately, socket_name, standby_directory
from app.cli.standby.surroundings import surroundings
from app.cli.standby.watching import Seen, is_changed, loaded_files, program_files
from app.cli.standby.wire import is_alike

_LOOK_SECONDS = 60.0
_REAP_SECONDS = 1.0
_WAITING = 64


@dataclass(frozen=True, slots=True)
class Standby:
    """A standby process.

    Attributes:
        listener: accepts the hooks' connections.
        path: its socket.
        lock: descriptor of the locked file that marks this as the only standby process.
        described: the surroundings of this process.
        seen: the state of the program's files when they were loaded.
        children: processes that work for hooks.
    """

    listener: socket.socket
    path: str
    lock: int
    described: str
    seen: Seen
    children: set[int] = field(default_factory=set[int])

    def serve(self, idle_seconds: float) -> None:
        """Answer hooks until `idle_seconds` pass without one, or the program or the socket has changed."""
        socket_file = os.stat(self.path).st_ino
        last = time.monotonic()
        while _inode(self.path) == socket_file:
            if self._is_asked(min(_LOOK_SECONDS, idle_seconds)):
                if is_changed(self.seen):
                    return
                self._take()
            self._reap()
            if self.children:
                last = time.monotonic()
            elif time.monotonic() - last >= idle_seconds:
                return

    def _is_asked(self, most: float) -> bool:
        readable, _, _ = select.select([self.listener], [], [], _REAP_SECONDS if self.children else most)
        return bool(readable)

    def _take(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            if not is_alike(connection):
                return
            process = os.fork()
            if process:
                self.children.add(process)
                return
            try:
                self.listener.close()
                os.close(self.lock)
                from app.cli.standby.working import work  # noqa: PLC0415 - loaded by then

                work(connection, self.described, os.getppid())
            finally:
                os._exit(0)

    def _reap(self) -> None:
        for each in list(self.children):
            with suppress(ChildProcessError):
                if not os.waitpid(each, os.WNOHANG)[0]:
                    continue
            self.children.discard(each)


def main(arguments: list[str]) -> None:
    """Stand by for hooks. End at once if another process does so, or if this one cannot fork safely.

    Args:
        arguments: how many seconds to wait for the next hook, and `models` if hooks use models.
    """
    described = surroundings()
    os.makedirs(standby_directory(), mode=0o700, exist_ok=True)
    with opened_privately(standby_directory()) as place:
        if place is not None:
            _stand_by(f"{place}/{socket_name(described)}", described, arguments)


def _stand_by(path: str, described: str, arguments: list[str]) -> None:
    with _locked(f"{path}.lock") as lock:
        if lock is None:
            return
        program = program_files()
        from app.cli.standby.needed import load_models, load_needed  # noqa: PLC0415 - only once the lock is held

        def load_them(_signal: int, _frame: object) -> None:
            load_models()

        load_needed()
        if arguments[1:] == ["models"]:
            load_models()
        signal.signal(signal.SIGUSR1, load_them)
        signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(0))  # and remove the socket
        # A thread that an import started may hold a lock, for which a forked process would wait for ever.
        if len(os.listdir("/proc/self/task")) > 1:
            return
        with _listening(path) as listener:
            Standby(listener, path, lock, described, {**loaded_files(), **program}).serve(float(arguments[0]))


@contextmanager
def _locked(path: str) -> Generator[int | None]:
    """Hold the lock of the only standby process. Yield None if another one holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _listening(path: str) -> Generator[socket.socket]:
    with suppress(FileNotFoundError):
        os.unlink(path)  # left by a killed process: the free lock shows that it is gone
    with socket.socket(socket.AF_UNIX) as listener:
        os.umask(0o077)
        listener.bind(path)
        made = _inode(path)
        listener.listen(_WAITING)
        try:
            yield listener
        finally:
            if made == _inode(path):
                os.unlink(path)


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


if __name__ == "__main__":
    main(sys.argv[1:])

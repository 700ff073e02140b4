"""Builds bubblewrap's command line: what a program sees, its user, and its limits."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from glob import glob
from pathlib import Path
from typing import Self

from app.workspaces.confine.accounts import HOST, with_line

HOME = "/home/sandbox"

# The system directories that programs need. /home, /root, /run, /srv and /var are left out because they hold
# data about the machine's users. /opt is left out because services are installed there with their data.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/nix/store", "/gnu/store"),
)
_SYSTEM_PLACES = frozenset(map(Path, SYSTEM))
_HIDDEN = ("/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/kcore")
"""Kernel files that reveal other users and the service."""
_ETC = (
    *("alternatives", "ca-certificates", "crypto-policies", "group", "hosts", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "protocols"),
    # Maven's other files may hold passwords.
    *("services", "ssl", "maven/m2.conf", "maven/logging"),
)
_RESOLVER = Path("/etc/resolv.conf")


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one launch.

    Attributes:
        memory_bytes: private memory of each process (`RLIMIT_DATA`).
        temporary_bytes: size of each of the two temporary file systems, `/tmp` and the home directory.
            Shared memory (`/dev/shm`) has a quarter of it.
        processes: number of processes and threads at the same time.
        file_bytes: size of a single file.
        open_files: number of descriptors of one process.
    """

    memory_bytes: int = 4_000_000_000
    temporary_bytes: int = 1_000_000_000
    processes: int = 512
    file_bytes: int = 2_000_000_000
    open_files: int = 4096


@dataclass(frozen=True, slots=True)
class Identity:
    """The user as which the program runs.

    Attributes:
        uid: user and group number inside.
        switch: True if the launcher is root and really becomes that user. False if it keeps its own user and
            only appears as that user inside a user namespace.
    """

    uid: int
    switch: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch: which paths are visible, each at its usual place, and whether there is a network.

    Attributes:
        writable: directories or files that may be written.
        readable: directories or files that may be read. One below a writable directory stays read-only.
        cwd: where the program starts; it must be visible.
        network: True gives the program the machine's network, False only a private loopback.
        status_fd: descriptor on which bubblewrap reports that it has started the program.
        filter_fd: descriptor of the system call filter; None if this machine has none.
        configuration: the content of `/etc` inside.
    """

    writable: Sequence[Path]
    readable: Sequence[Path]
    cwd: Path
    network: bool
    identity: Identity
    limits: SandboxLimits
    status_fd: int
    filter_fd: int | None
    configuration: "SystemConfiguration"


class SystemConfiguration:
    """The part of `/etc` that programs see. While entered, it holds the descriptors of the files to copy.

    Bubblewrap copies these files. A copy of a small file takes a tenth of the time of a mount.

    Args:
        lines: one more line for some files, by path.

    Attributes:
        links: the target of each symbolic link, by path.
        files: the descriptor of each file, by path.
        directories: paths.
    """

    def __init__(self, lines: Mapping[str, str]) -> None:
        self._lines = lines
        self.links: dict[str, str] = {}
        self.files: dict[str, int] = {}
        self.directories: list[str] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        for name in etc_names():
            # A path that is missing or unreadable is left out inside, too.
            with suppress(OSError):
                self._add(f"/etc/{name}")
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that bubblewrap must inherit."""
        return tuple(self.files.values())

    def _add(self, path: str) -> None:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode) and visible_without_asking(Path(path).resolve()):
            self.links[path] = os.path.realpath(path)
        elif os.path.isdir(path):
            self.directories.append(path)
        else:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._open.callback(os.close, descriptor)
            if path in self._lines:
                descriptor = self._with_line(descriptor, path)
            self.files[path] = descriptor

    def _with_line(self, table: int, path: str) -> int:
        """Return the descriptor of an in-memory copy of a table with one more line."""
        copy = os.memfd_create("table", os.MFD_CLOEXEC)
        self._open.callback(os.close, copy)
        with os.fdopen(table, "rb", closefd=False) as source, os.fdopen(copy, "wb", closefd=False) as sink:
            sink.write(with_line(source.read(), self._lines[path]))
        os.lseek(copy, 0, os.SEEK_SET)
        return copy


@cache
def etc_names() -> tuple[str, ...]:
    """Return the names below `/etc` that programs see, if they exist. Java of Debian has settings there."""
    return (*_ETC, *sorted(glob("java-*-openjdk", root_dir="/etc")))


def visible_without_asking(path: Path) -> bool:
    """Return True if every confined program sees this path."""
    above = (path, *path.parents)
    return not _SYSTEM_PLACES.isdisjoint(above) or any(Path("/etc", each) in above for each in etc_names())


def command_line(program: str, launch: Launch, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs `argv` confined. `program` is bubblewrap's own path."""
    return [
        program,
        *_namespaces(launch),
        *("--die-with-parent", "--new-session", "--json-status-fd", str(launch.status_fd)),
        *(() if launch.filter_fd is None else ("--seccomp", str(launch.filter_fd))),
        *_system(launch.configuration, network=launch.network),
        *_temporary(launch.limits),
        *_mounts(launch),
        # The root is an in-memory file system. If it were writable, writes to it would use memory without a
        # limit.
        *("--remount-ro", "/", "--chdir", str(launch.cwd), "--"),
        *_limited(launch.limits),
        *_as_user(launch.identity),
        *argv,
    ]


def _namespaces(launch: Launch) -> Iterator[str]:
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", HOST)
    yield "--unshare-cgroup-try"
    if not launch.network:
        yield "--unshare-net"
    uid = str(launch.identity.uid)
    if launch.identity.switch:
        yield from ("--cap-drop", "ALL")
        # The last one lets bubblewrap enter directories that only the target user can enter. The program
        # itself gets none of these capabilities.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH"):
            yield from ("--cap-add", capability)
    else:
        yield from ("--unshare-user", "--uid", uid, "--gid", uid)


def _system(configuration: SystemConfiguration, *, network: bool) -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    for path in _HIDDEN:
        if os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", path)
    for name in SYSTEM:
        yield from _system_directory(Path(name))
    yield from ("--dir", "/etc")
    for path, target in configuration.links.items():
        yield from ("--symlink", target, path)
    for path, descriptor in configuration.files.items():
        yield from ("--perms", "0444", "--file", str(descriptor), path)
    for path in configuration.directories:
        yield from ("--ro-bind", path, path)
    if network and _RESOLVER.exists():
        yield from ("--ro-bind", str(_RESOLVER.resolve()), str(_RESOLVER))


def _system_directory(place: Path) -> Iterator[str]:
    if place.is_symlink():
        yield from ("--symlink", str(place.readlink()), str(place))
    elif place.is_dir():
        yield from ("--ro-bind", str(place), str(place))


def _temporary(limits: SandboxLimits) -> Iterator[str]:
    sizes = {
        "/tmp": limits.temporary_bytes,  # noqa: S108 - these are inside
        HOME: limits.temporary_bytes,
        "/dev/shm": limits.temporary_bytes // 4,  # noqa: S108 - inside
    }
    for place, size in sizes.items():
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", place)
    yield from ("--perms", "0755", "--dir", "/var", "--symlink", "/tmp", "/var/tmp")  # noqa: S108 - inside


def _mounts(launch: Launch) -> Iterator[str]:
    # Outer paths come first, because a mount hides everything below it.
    kinds = dict.fromkeys(launch.writable, "--bind") | dict.fromkeys(launch.readable, "--ro-bind")
    made: set[Path] = {Path("/"), Path("/tmp"), Path("/var"), Path("/home")}  # noqa: S108 - inside
    for path in sorted(kinds):
        hidden = False
        for above in reversed(path.parents):
            # Paths below a mount come with that mount.
            hidden = hidden or above in kinds or above in _SYSTEM_PLACES
            if above not in made and not hidden:
                made.add(above)
                # Bubblewrap itself creates directories that only root can enter.
                yield from ("--perms", "0755", "--dir", str(above))
        yield from (kinds[path], str(path), str(path))


def _limited(limits: SandboxLimits) -> Iterator[str]:
    # Set inside, where Linux 5.14 and newer count only this launch's processes.
    yield from ("prlimit", "--core=0", f"--nproc={limits.processes}", f"--nofile={limits.open_files}")
    yield from (f"--data={limits.memory_bytes}", f"--fsize={limits.file_bytes}", "--")


def _as_user(identity: Identity) -> Iterator[str]:
    if identity.switch:
        yield from ("setpriv", f"--reuid={identity.uid}", f"--regid={identity.uid}", "--clear-groups")
        yield from ("--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--")


def give_to(uid: int, paths: Iterable[Path]) -> None:
    """Make a user the owner of paths and of everything below them. Links are not followed."""
    for path in paths:
        os.chown(path, uid, uid, follow_symlinks=False)
        for directory, subdirectories, files in os.walk(os.fsencode(path)):
            for name in (*subdirectories, *files):
                os.chown(os.path.join(directory, name), uid, uid, follow_symlinks=False)

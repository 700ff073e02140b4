"""Builds the command line of a container: what a program sees, its user, and its limits."""

import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.confine.accounts import HOST
from app.workspaces.confine.bubblewrap import HOME, SandboxLimits
from app.workspaces.confine.container.engine import OWNER_LABEL, Engine
from app.workspaces.confine.running import SandboxUnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerLaunch:
    """One launch.

    Attributes:
        name: the container's name.
        owner: number of the process that creates the container; empty for none.
        image: the container's image, which must be on this machine.
        user: user and group inside, in the form of `--user`.
        switch: True if that user has no other processes on this machine.
        mounts: by path inside, the path on this machine and whether it may be written.
        has_own_var_tmp: True if `/var/tmp` of the image leads to `/tmp`.
        cwd: where the program starts.
        host_network: True gives the program the machine's network, False only a private loopback.
        limits: limits of the launch.
        descriptors: least number of open descriptors that the limit must allow.
        variables: file with the program's environment.
        filter: file with the system call filter; None leaves the filter to the engine.
    """

    name: str
    owner: str
    image: str
    user: str
    switch: bool
    mounts: dict[Path, tuple[Path, bool]]
    has_own_var_tmp: bool
    cwd: Path
    host_network: bool
    limits: SandboxLimits
    descriptors: int
    variables: Path
    filter: Path | None


def command_line(engine: Engine, launch: ContainerLaunch, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs `argv` in a container and waits until it has ended.

    Raises:
        SandboxUnavailableError: a path cannot be passed to a container.
    """
    return [
        *engine.argv,
        *("run", "--name", launch.name, "--label", f"{OWNER_LABEL}={launch.owner}", "--interactive"),
        *("--init", "--log-driver", "none", "--pull", "never", "--no-healthcheck"),
        *_confined(engine, launch),
        *_bounds(launch),
        *_mounts(launch),
        *("--env-file", str(launch.variables), "--workdir", str(launch.cwd)),
        # The container's init process would not name a missing program; the shell does.
        *("--entrypoint", "/bin/sh", launch.image, "-c", 'exec "$@"', "sh", *argv),
    ]


def _confined(engine: Engine, launch: ContainerLaunch) -> Iterator[str]:
    yield from ("--network", "host" if launch.host_network else "none", "--hostname", HOST)
    yield from ("--read-only", "--cap-drop", "ALL", "--ipc", "private", "--user", launch.user)
    yield from ("--security-opt", "no-new-privileges")
    if launch.filter is not None:
        yield from ("--security-opt", f"seccomp={launch.filter}")
    # SELinux would need other labels on the workspace's files. The remaining confinement works without them.
    yield from ("--security-opt", "label=disable")
    if engine.is_podman:
        yield from ("--read-only-tmpfs=false", "--image-volume", "ignore")
        yield from ("--security-opt", "mask=/proc/key-users")
        if engine.is_rootless:
            yield from ("--userns", "keep-id")


def _bounds(launch: ContainerLaunch) -> Iterator[str]:
    limits = launch.limits
    # Temporary files are in memory and count towards the container's limit.
    memory = limits.memory_bytes + 2 * limits.temporary_bytes + limits.temporary_bytes // 4
    yield from ("--memory", str(memory), "--memory-swap", str(memory))
    yield from ("--pids-limit", str(limits.processes))
    # The kernel counts processes per user. If the user has other processes, only the container's limit
    # applies.
    processes = _possible(resource.RLIMIT_NPROC, limits.processes) if launch.switch else None
    bounds = {
        "core": 0,
        "data": _possible(resource.RLIMIT_DATA, limits.memory_bytes),
        "fsize": _possible(resource.RLIMIT_FSIZE, limits.file_bytes),
        "nofile": _possible(resource.RLIMIT_NOFILE, max(limits.open_files, launch.descriptors)),
        "nproc": processes or resource.getrlimit(resource.RLIMIT_NPROC)[1],
    }
    for name, value in bounds.items():
        yield from ("--ulimit", f"{name}={value}:{value}")


def _possible(number: int, wanted: int) -> int:
    """Return the wanted limit, or this process's own if that is lower. No limit can be raised."""
    hard = resource.getrlimit(number)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _mounts(launch: ContainerLaunch) -> Iterator[str]:
    size = launch.limits.temporary_bytes
    places = ["/tmp", HOME] + ([] if launch.has_own_var_tmp else ["/var/tmp"])  # noqa: S108 - inside
    for place in places:
        yield from ("--tmpfs", f"{place}:rw,exec,nosuid,nodev,size={size},mode=1777")
    yield from ("--shm-size", str(size // 4))
    for inside, (here, writable) in launch.mounts.items():
        for path in (inside, here):
            if ":" in str(path):
                raise SandboxUnavailableError(f"a container cannot be given a path with a colon: {path}")
        yield from ("--volume", f"{here}:{inside}:{'rw' if writable else 'ro'}")

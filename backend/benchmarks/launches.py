"""What the sandbox adds to starting a program: bubblewrap, and containers where an engine works."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from app.schemas.modes import ConfinementKind
from app.workspaces.confine.confinement import Confinement, ContainerSettings, SandboxSettings
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import run_process
from benchmarks.figures import Series

TITLE = "sandbox: a program that does nothing, confined and plain"
ROUNDS = 100
CONTAINER_ROUNDS = 10
TARGET_MS = 15.0

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


async def measure(place: Path) -> list[Series]:
    """Start the program in turns, confined and plain; the first turns are not counted.

    Raises:
        AssertionError: there is no sandbox here.
    """
    sandbox = Sandbox()
    state = await sandbox.state()
    if not state.confined:
        raise AssertionError(state.detail)
    confinement = Confinement(writable=(place,), readable=interpreter_paths(Path(sys.executable)))
    confined: list[float] = []
    plain: list[float] = []
    for turn in range(ROUNDS + 5):
        started = time.perf_counter()
        await sandbox.run(["true"], cwd=place, env=_ENV, timeout=10, confinement=confinement)
        between = time.perf_counter()
        await run_process(["true"], cwd=place, env=_ENV, timeout=10)
        ended = time.perf_counter()
        if turn >= 5:
            confined.append((between - started) * 1000)
            plain.append((ended - between) * 1000)
    added = [one - other for one, other in zip(confined, plain, strict=True)]
    return [
        Series("confined", confined, "ms", TARGET_MS),
        Series("plain", plain, "ms"),
        Series("difference", added, "ms"),
        *await _containers(place, confinement),
    ]


async def _containers(place: Path, confinement: Confinement) -> list[Series]:
    """Start the program in containers of Podman with runc; nothing where they do not work."""
    podman, runc = shutil.which("podman", path=_PATH), shutil.which("runc", path=_PATH)
    if podman is None or runc is None:
        return []
    with tempfile.TemporaryDirectory(prefix="containers-") as store:
        where = ("--root", f"{store}/root", "--runroot", f"{store}/run", "--storage-driver", "vfs")
        how = ("--cgroup-manager", "cgroupfs", "--runtime", runc)
        containers = ContainerSettings((podman, *where, *how), None, {"HOME": store, "PATH": _PATH})
        sandbox = Sandbox(SandboxSettings(kind=ConfinementKind.CONTAINER, containers=containers))
        if not (await sandbox.state()).confined:
            return []
        found: list[float] = []
        for _ in range(CONTAINER_ROUNDS):
            started = time.perf_counter()
            await sandbox.run(["true"], cwd=place, env=_ENV, timeout=60, confinement=confinement)
            found.append((time.perf_counter() - started) * 1000)
    return [Series("in a container", found, "ms")]

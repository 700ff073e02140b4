"""What the sandbox adds to starting a program."""

import sys
import time
from pathlib import Path

from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import run_process
from benchmarks.figures import Series

TITLE = "sandbox: a program that does nothing, confined and plain"
ROUNDS = 100
TARGET_MS = 15.0

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
    ]

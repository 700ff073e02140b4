"""An engine for containers that tests may use: Podman, with a store that nothing else uses."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.workspaces.confine.confinement import ContainerSettings

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class EngineHere:
    """Podman as the tests use it."""

    settings: ContainerSettings

    def say(self, *arguments: str, given: bytes = b"") -> str:
        """Run one command of the engine; return what it printed."""
        done = subprocess.run(
            [*self.settings.engine, *arguments],
            input=given,
            env={"PATH": _PATH, **self.settings.environ},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def containers(self) -> list[str]:
        """Name the containers that are there, running or not."""
        return self.say("ps", "--all", "--quiet").split()


@contextmanager
def engine_here() -> Generator[EngineHere]:
    """Yield Podman with a store for this process, or skip the test that asks for it.

    Podman refuses a place whose path has more than 50 characters, as pytest's own directories have.
    """
    podman, runtime = (shutil.which(name, path=_PATH) for name in ("podman", "runc"))
    if podman is None or runtime is None or os.geteuid() != 0:
        pytest.skip("containers are tested with podman and runc, as root")
    place = Path(tempfile.mkdtemp(prefix="podman-", dir="/tmp"))
    options = ("--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", runtime)
    places = ("--root", str(place / "root"), "--runroot", str(place / "run"))
    engine = EngineHere(ContainerSettings((podman, *places, *options), None, {"HOME": str(place)}))
    try:
        yield engine
    finally:
        subprocess.run([*engine.settings.engine, "rm", "--all", "--force"], capture_output=True, check=False)
        shutil.rmtree(place, ignore_errors=True)

"""Controls Docker or Podman through its command line program."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.confine.confinement import ContainerSettings
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.process import ProcessOutcome, run_process

OWNER_LABEL = "phaserunner.owner"
"""Label of each container: the owner number of the process that created it."""

_CALL_SECONDS = 60.0
_NAMES = ("podman", "docker")
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Engine:
    """A working engine.

    Attributes:
        argv: its program, with its global options.
        environ: environment of its program.
        version: the version that it reports.
        is_podman: True for Podman, False for Docker.
        is_rootless: True if its containers can use no user of this machine except the service's own.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    version: str
    is_podman: bool
    is_rootless: bool

    async def call(self, *arguments: str, stdin: bytes | None = None) -> ProcessOutcome:
        """Run one command of the engine to its end.

        Raises:
            OSError: the program no longer exists.
        """
        return await _call(self.argv, self.environ, *arguments, stdin=stdin)

    async def has_image(self, image: str) -> bool:
        """Return True if an image is on this machine."""
        return (await self.call("image", "inspect", "--format", "{{.Id}}", image)).returncode == 0

    async def remove(self, container: str) -> None:
        """End a container and everything in it, and remove it. A missing container is no error."""
        patience = ("--time", "0") if self.is_podman else ()
        await self.call("rm", "--force", "--volumes", *patience, container)

    async def remove_all_of(self, owner: str) -> int:
        """Remove the containers of one owner. Return their number."""
        listed = await self.call("ps", "--all", "--quiet", "--filter", f"label={OWNER_LABEL}={owner}")
        found = listed.stdout.split() if listed.returncode == 0 else []
        for container in found:
            await self.remove(container)
        return len(found)


async def find_engine(settings: ContainerSettings) -> Engine:
    """Find the configured engine, or else an installed one, and check that it works.

    Raises:
        SandboxUnavailableError: no engine was found, or it does not work. The message says why.
    """
    argv = settings.engine or _installed()
    version = await _answer(argv, settings.environ, "--version")
    is_podman = "podman" in version.lower()
    question = "{{.Host.Security.Rootless}}" if is_podman else "{{.SecurityOptions}}"
    told = await _answer(argv, settings.environ, "info", "--format", question)
    is_rootless = told == "true" if is_podman else "name=rootless" in told
    return Engine(tuple(argv), settings.environ, version, is_podman, is_rootless)


def _installed() -> tuple[str, ...]:
    for name in _NAMES:
        found = shutil.which(name, path=_PATH)
        if found is not None:
            return (found,)
    raise SandboxUnavailableError("neither Podman nor Docker is installed")


async def _answer(argv: Sequence[str], environ: Mapping[str, str], *arguments: str) -> str:
    try:
        outcome = await _call(argv, environ, *arguments)
    except OSError as error:
        raise SandboxUnavailableError(
            f"CONTAINER_ENGINE: {argv[0]} cannot be started: {error.strerror}"
        ) from error
    if outcome.timed_out or outcome.returncode != 0:
        told = "no answer" if outcome.timed_out else outcome.stderr.strip()[-300:]
        raise SandboxUnavailableError(f"{argv[0]} {arguments[0]} does not work here: {told}")
    return outcome.stdout.strip()


async def _call(
    argv: Sequence[str], environ: Mapping[str, str], *arguments: str, stdin: bytes | None = None
) -> ProcessOutcome:
    return await run_process(
        [*argv, *arguments],
        cwd=Path(tempfile.gettempdir()),
        env={"PATH": _PATH, **environ},
        timeout=_CALL_SECONDS,
        stdin=stdin,
    )

"""Prepares launches in macOS's sandbox (`sandbox-exec`), which has no namespaces and few limits."""

import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from app.workspaces.confine.backend import Launched
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import GATEWAY_PORT, Confinement, Network, SandboxSettings
from app.workspaces.confine.preparing import check_visible, connected, variables_inside, with_places
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.confine.seatbelt_profile import SeatbeltLaunch, profile

PROGRAM = Path("/usr/bin/sandbox-exec")
_FAILED = range(64, 79)
"""Exit statuses of `sandbox-exec` if it starts nothing. Programs can end with them, too."""

_ENTER = 'ulimit -c 0; ulimit -n "$2"; ulimit -f "$3"; : > "$1" && shift 3 && exec "$@"'
_BLOCK = 512


class SeatbeltReport:
    """Learns from a file whether the program ran.

    The shell inside creates the file before it executes the program.
    """

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self.started = False

    async def settle(self, returncode: int) -> None:
        """Determine whether the program ran. A program that removes the file gets no verdict from that."""
        self.started = returncode not in _FAILED or self._mark.exists()

    async def ask_to_end(self) -> bool:
        """Return False: the started command has become the program, so the caller must signal it."""
        return False


class SeatbeltBackend:
    """Confines with a profile for each launch.

    It hides files and the network. It limits neither memory nor processes, and a process that leaves its
    group outlives the launch.
    """

    name = "seatbelt"
    advice = "set CONFINEMENT to another means, or run PhaseRunner in a Linux container"

    def __init__(self, settings: SandboxSettings, program: Path = PROGRAM) -> None:
        self._settings = settings
        self._program = program

    async def missing(self) -> str | None:
        """Say what is missing before a launch can be tried. Return None if nothing is."""
        if sys.platform != "darwin":
            return f"Seatbelt is macOS's sandbox; this is {sys.platform}"
        if os.geteuid() == 0:
            return "Seatbelt is not used as root: all files of the machine would depend on its profile"
        return None if self._program.exists() else f"{self._program} is not there"

    def is_user(self, number: str) -> bool:
        """Return True if the user number is the service's own, which a program must have."""
        return number == str(os.geteuid())

    def describe(self) -> str:
        """Say which restrictions hold and which do not."""
        return f"Seatbelt ({self._program}), no bounds on memory and processes, no loopback for programs"

    @asynccontextmanager
    async def launched(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        pass_fds: Sequence[int] = (),
    ) -> AsyncGenerator[Launched]:
        """Prepare one launch with its temporary directory."""
        async with AsyncExitStack() as stack:
            confinement = with_places(confinement, self._settings)
            check_visible(argv[0], cwd, confinement)
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="phaserunner-seatbelt-")))
            for name in ("home", "tmp"):
                (place / name).mkdir()
            given = confinement.gateway
            proxy_port = _free_port() if confinement.network is Network.PUBLIC else 0
            argv, confinement = await connected(
                argv, confinement, self._settings.egress, None, stack, proxy_port
            )
            ports = [proxy_port] * bool(proxy_port) + [GATEWAY_PORT] * bool(given)
            text = _profile(confinement, place, ports)
            command = _command(self._program, text, place / "started", self._settings.limits, argv)
            variables = {**variables_inside(env, confinement, place / "home"), "TMPDIR": str(place / "tmp")}
            yield Launched(command, cwd, variables, tuple(pass_fds), SeatbeltReport(place / "started"))


def _profile(confinement: Confinement, place: Path, ports: Sequence[int]) -> str:
    readable = [each.resolve() for each in confinement.readable]
    try:
        return profile(
            SeatbeltLaunch(
                writable=[each.resolve() for each in (*confinement.writable, place)],
                readable=readable,
                sockets=[each for each in readable if each.is_socket()],
                ports=ports,
                host_network=confinement.network is Network.HOST,
            )
        )
    except ValueError as error:
        raise SandboxUnavailableError(str(error)) from error


def _command(program: Path, text: str, mark: Path, limits: SandboxLimits, argv: Sequence[str]) -> list[str]:
    numbers = (str(limits.open_files), str(limits.file_bytes // _BLOCK))
    return [str(program), "-p", text, "/bin/sh", "-c", _ENTER, "sh", str(mark), *numbers, *argv]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])

"""Runs the service in this process and shows sprints on it at the same time."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from app.agents.port import AgentFailure
from app.agents.provider import AgentProvider
from app.cli.exits import CliError, ExitCode
from app.cli.root import Options, Root, Session
from app.cli.starting import start_sprint
from app.cli.terminal import write_line
from app.cli.watching import watch_run
from app.core.config import Settings
from app.schemas.api.sprints import SprintCreate

_PORTS_TRIED = 100


class Serve(Protocol):
    """Runs the API and a worker until it is cancelled or asked to stop. Calls `ready` with the address."""

    async def __call__(self, settings: Settings, *, ready: Callable[[str], None] | None = None) -> None: ...


async def serve_and(settings: Settings, serve: Serve, show: Callable[[str], Awaitable[None]]) -> None:
    """Run the service. Once it is ready, run `show` with its address, then continue to serve.

    If the service ends, `show` is cancelled. If `show` fails, the service is cancelled and the error is
    raised.
    """
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def is_ready(url: str) -> None:
        if not address.done():
            address.set_result(url)

    async def show_when_ready() -> None:
        await show(await address)

    server = asyncio.create_task(serve(settings, ready=is_ready))
    shown = asyncio.create_task(show_when_ready())
    try:
        await asyncio.wait((server, shown), return_when=asyncio.FIRST_COMPLETED)
        if shown.done() and not server.done():
            shown.result()
            await asyncio.wait((server,))
        server.result()
    finally:
        for task in (shown, server):
            task.cancel()
        await asyncio.wait((shown, server))


class Tour:
    """The demonstration of `up`: sprints, one after the other, and then a list of possible next steps."""

    def __init__(self, root: Root, options: Options, sprints: Sequence[SprintCreate]) -> None:
        self._root = root
        self._options = options
        self._sprints = sprints
        self._console = root.terminal(options).progress

    async def __call__(self, url: str) -> None:
        """Run the demonstration on the service at `url`."""
        self._say("")
        self._say(f"PhaseRunner is at {url} (Ctrl-C stops it)", "bold")
        options = Options(as_json=self._options.as_json, url=url, token=self._options.token)
        async with self._root.session(options) as session:
            last = ""
            for sprint in self._sprints:
                self._say("")
                last = await self._run(session, sprint)
            self._tell_next(url, last)

    async def _run(self, session: Session, sprint: SprintCreate) -> str:
        started = await start_sprint(session, sprint)
        try:
            await watch_run(session, started.id)
        except asyncio.CancelledError:
            self._say("Stopped; the run continues when PhaseRunner starts again")
            raise
        return str(started.id)[:8]

    def _tell_next(self, url: str, last: str) -> None:
        self._say("")
        self._say("In another terminal:", "bold")
        # A setting of this process, such as PORT, may not be set in the other terminal.
        if url != Settings.model_construct().service_url:
            self._say(f"    export PHASERUNNER_URL={url}")
        for command, what in (
            ("phaserunner list", "all runs"),
            (f"phaserunner show {last}", "attempts, verdicts, evidence"),
            (f"phaserunner diff {last}", "what the agent changed"),
            ("phaserunner escalations", "what waits for a person"),
            ('phaserunner run "GOAL" --repo PATH', "your own sprint"),
        ):
            self._say(f"    {command:<40}{what}")
        self._say("")

    def _say(self, text: str, style: str = "") -> None:
        write_line(self._console, text, style)


def require_known_agents(agents: AgentProvider, sprint: SprintCreate) -> None:
    """Refuse a sprint with an unknown agent, before anything starts.

    Raises:
        CliError: an agent is unknown. The message lists the known ones.
    """
    for each in sprint.agent.each():
        if unknown := agents.unknown(each):
            option = "--agent" if isinstance(sprint.agent.candidates, int) else "--candidate"
            raise CliError(f"{option}: {unknown}")


def agents_remark(agents: AgentProvider, sprint: SprintCreate) -> str:
    """Return which agents of a sprint cannot work yet, and what to do. The text is empty if all can."""
    specs = sprint.agent.each()
    made = [agents(each) for each in specs]
    problems = list(dict.fromkeys(each.message for each in made if isinstance(each, AgentFailure)))
    if not problems:
        return ""
    if any(not isinstance(each, AgentFailure) for each in made):
        return "\n".join([*problems, "The other candidates work without it."])
    return "\n".join(
        [
            *problems,
            "So the sprint will wait for you. Press Ctrl-C, change that in the environment or in .env, "
            "start again, and continue it with: phaserunner escalations resolve --retry",
        ]
    )


def choose_port(host: str, wanted: int, *, is_asked_for: bool) -> int:
    """Return a free port: the wanted one, or the next free one if the user did not ask for it.

    Raises:
        CliError: the requested port is taken, no port is free, or it is not possible to listen on the host.
    """
    if wanted == 0:
        return 0
    if is_asked_for:
        if not is_free(host, wanted):
            raise CliError(
                f"port {wanted} on {host} is taken; choose another with --port", ExitCode.INFRASTRUCTURE
            )
        return wanted
    for port in range(wanted, min(wanted + _PORTS_TRIED, 65_536)):
        if is_free(host, port):
            return port
    raise CliError(f"no port from {wanted} on is free; choose one with --port", ExitCode.INFRASTRUCTURE)


def is_free(host: str, port: int) -> bool:
    """Return True if a server could listen there.

    Raises:
        CliError: no port is possible, because of the host or missing rights.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # Servers set this, too, so a connection that has just ended does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise CliError(
                f"{host}:{port} cannot be listened on: {error}", ExitCode.INFRASTRUCTURE
            ) from error
    return True

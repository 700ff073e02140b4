"""`serve`, `worker` and `up`: run the service itself in this process."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.commands.run import Worker, WorkOptions, describe
from app.cli.exits import ExitCode
from app.cli.hosting import Tour, agents_remark, choose_port, require_known_agents, serve_and
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.composition.tools import build_tools
from app.core.config import Settings
from app.main import serve as serve_service
from app.schemas.api.sprints import SprintCreate
from app.worker import work

MENDING = "teatime"
ESCALATING = "teatime-escalation"

Port = Annotated[int | None, Parameter(validator=Number(gte=0, lte=65_535))]


def serve(
    *,
    host: str | None = None,
    port: Port = None,
    with_worker: Annotated[bool, Parameter(name="--worker")] = True,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Run the API and a worker until Ctrl-C.

    Args:
        host: Address to listen on [default: HOST].
        port: Port to listen on, 0 for any free one [default: PORT].
        with_worker: Also run a worker; --no-worker runs only the API.
    """
    terminal = root.terminal(options)
    settings = _settings(root, host, port)
    choose_port(settings.HOST, settings.PORT, is_asked_for=True)

    def ready(url: str) -> None:
        terminal.say(f"PhaseRunner is at {url} (Ctrl-C stops it)")

    return _until_interrupted(serve_service(settings, ready=ready, with_worker=with_worker))


def worker(*, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Run only a worker until Ctrl-C. Any number of workers can share one database."""
    return _until_interrupted(work(root.settings))


def up(
    goal: str | None = None,
    /,
    *,
    port: Port = None,
    what: WorkOptions = WorkOptions(),  # noqa: B008 - frozen
    who: Worker = Worker(),  # noqa: B008
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Start the service, run and show a sprint on it, and keep serving until Ctrl-C.

    Args:
        goal: What to do; - reads standard input, @FILE reads a file [default: two examples, or one with an
            --agent].
        port: Port to listen on [default: the next free one from PORT on].
    """
    return _until_interrupted(_up(goal, port, what, who, options, root))


async def _up(
    goal: str | None, port: int | None, what: WorkOptions, who: Worker, options: Options, root: Root
) -> None:
    terminal = root.terminal(options)
    settings = _settings(root, None, port)
    chosen = choose_port(settings.HOST, settings.PORT, is_asked_for="PORT" in settings.model_fields_set)
    if chosen != settings.PORT:
        terminal.say(f"Port {settings.PORT} is taken; using {chosen}", "yellow")
    changes: dict[str, Any] = {"PORT": chosen}
    if "LOG_LEVEL" not in settings.model_fields_set:
        changes["LOG_LEVEL"] = "WARNING"  # events are shown, and log lines would get between them
    settings = settings.model_copy(update=changes)
    tools = build_tools(settings)
    sprints = await _sprints(goal, what, who, root)
    for sprint in sprints:
        require_known_agents(tools.agents, sprint)
        if remark := agents_remark(tools.agents, sprint):
            terminal.say(remark, "yellow")
    sandbox = await tools.sandbox.state()
    if not sandbox.confined:
        terminal.say(f"Tests are not confined: {sandbox.detail}", "yellow")
    terminal.say("Starting ...")
    await serve_and(settings, serve_service, Tour(root, options, sprints))


async def _sprints(goal: str | None, what: WorkOptions, who: Worker, root: Root) -> list[SprintCreate]:
    if goal is None and what == WorkOptions() and who.script is None:
        # Only the examples' scripts can fail on purpose.
        names = [MENDING, ESCALATING] if who == Worker() else [MENDING]
        return [await describe(root, None, WorkOptions(example=each), who) for each in names]
    return [await describe(root, goal, what, who)]


def _settings(root: Root, host: str | None, port: int | None) -> Settings:
    given = {"HOST": host, "PORT": port}
    changes = {name: value for name, value in given.items() if value is not None}
    return root.settings.model_copy(update=changes) if changes else root.settings


def _until_interrupted(service: Coroutine[Any, Any, None]) -> int:
    # Ctrl-C is the intended way to stop a service.
    with suppress(KeyboardInterrupt):
        asyncio.run(service)
    return ExitCode.PASSED

"""`watch` and `logs`: what a sprint is doing, and all it has done."""

import asyncio
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from cyclopts import Parameter
from cyclopts.validators import Number
from pydantic import BaseModel

from app.cli.exits import CliError, ExitCode
from app.cli.identify import find_sprint
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument, Session
from app.cli.terminal import Terminal
from app.cli.view.notices import Notice, notices
from app.cli.view.reducer import reduce
from app.cli.view.screens import plain_lines
from app.cli.view.state import SprintState
from app.cli.view.words import look
from app.cli.watching import watch_sprint
from app.client.events import Reset
from app.core.websocket_events import Event
from app.schemas.runs import RunKind

Seconds = Annotated[float | None, Parameter(validator=Number(gt=0))]


async def watch(
    sprint: str,
    /,
    *,
    stay: Annotated[bool, Parameter(negative="")] = False,
    timeout: Seconds = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Watch a sprint until it is over or a human is asked.

    Interrupting it leaves the sprint running.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
        stay: Keep watching while a human is asked.
        timeout: Stop watching after so many seconds, with exit code 124.
    """
    async with root.session(options) as session:
        sprint_id = await find_sprint(session.api, sprint)
        return await watch_and_report(session, sprint_id, stay=stay, timeout=timeout)


def tell_started(session: Session, started: BaseModel, run_id: UUID) -> None:
    """Say which run was started, and how it can be watched."""
    if session.terminal.as_json:
        session.terminal.json(started.model_dump(mode="json"))
        return
    session.terminal.line(str(run_id))
    session.terminal.say(f"Watch it with: phaserunner watch {str(run_id)[:8]}")


async def watch_and_report(
    session: Session,
    sprint_id: UUID,
    *,
    stay: bool = False,
    timeout: float | None = None,
    after: int = 0,
) -> ExitCode:
    """Watch, and then say what can be done, or write the sprint to standard output where JSON is wanted."""
    short = str(sprint_id)[:8]
    try:
        code = await watch_sprint(session, sprint_id, stay=stay, timeout=timeout, after=after)
    except asyncio.CancelledError:
        session.terminal.say(f"Interrupted; the run goes on. Watch it with: phaserunner watch {short}")
        raise
    if session.terminal.as_json:
        session.terminal.json(await session.api.whole(sprint_id))
    elif code is ExitCode.PASSED and (await session.api.sprint(sprint_id)).kind is RunKind.SPRINT:
        session.terminal.say(
            f"Look at it: phaserunner diff {short}    Take it: phaserunner result {short} --branch NAME"
        )
    return code


async def logs(
    sprint: str,
    /,
    *,
    follow: Annotated[bool, Parameter(negative="")] = False,
    download: Path | None = None,
    format: Literal["text", "ndjson"] = "text",  # noqa: A002 - the option's public name
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show everything that happened in a sprint; with --json one event on each line.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
        follow: Keep showing what happens, until the sprint is over.
        download: Write what the agents said and which tools they used to this file instead, all of it.
        format: How the file is written: lines for people, or one event as JSON in each line.
    """
    if download is not None and follow:
        raise CliError("logs: give one of --follow and --download")
    async with root.session(options) as session:
        sprint_id = await find_sprint(session.api, sprint)
        if download is not None:
            path = f"/runs/{sprint_id}/log"
            size = await session.api.download(path, root.cwd / download, {"format": format})
            session.terminal.say(f"{download}: {size:,} bytes")
            return ExitCode.PASSED
        try:
            await _write_events(session, sprint_id, follow=follow)
        except asyncio.CancelledError:
            session.terminal.say("Interrupted; the run goes on")
            raise
    return ExitCode.PASSED


async def _write_events(session: Session, sprint_id: UUID, *, follow: bool) -> None:
    state = SprintState()
    async with aclosing(session.follow(sprint_id) if follow else session.api.events(sprint_id)) as events:
        async for event in events:
            if isinstance(event, Reset):
                state = SprintState(id=sprint_id, last_sequence=event.after)
                continue
            before, state = state, reduce(state, event)
            if state is not before:
                _write(session.terminal, event, state)


def _write(terminal: Terminal, event: Event, state: SprintState) -> None:
    if terminal.as_json:
        terminal.json(event.model_dump(mode="json"), indent=None)
        return
    said = notices(event, state) or (Notice("info", event.event.value, depth=3),)
    stamp = _stamp(event.timestamp)
    for each in said:
        for line in plain_lines(each):
            terminal.line(f"{stamp} {line}", look(each.state).style)


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"

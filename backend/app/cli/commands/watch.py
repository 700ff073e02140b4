"""`watch` and `logs`: show what a run is doing, and everything it has done."""

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
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument, Session
from app.cli.terminal import Terminal
from app.cli.view.notices import TerminalNotice, notices
from app.cli.view.reducer import reduce
from app.cli.view.screens import plain_lines
from app.cli.view.state import WatchedRun
from app.cli.view.words import look
from app.cli.watching import watch_run
from app.client.events import Reset
from app.core.websocket_events import Event
from app.schemas.runs import RunKind

Seconds = Annotated[float | None, Parameter(validator=Number(gt=0))]


async def watch(
    run: str,
    /,
    *,
    stay: Annotated[bool, Parameter(negative="")] = False,
    timeout: Seconds = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Watch a run until it ends or needs a person.

    Ctrl-C stops watching; the run continues.

    Args:
        run: Its id, or at least the first 6 characters of it.
        stay: Keep watching while the run waits for a person.
        timeout: Seconds to watch; then the exit code is 124.
    """
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        return await watch_and_report(session, run_id, stay=stay, timeout=timeout)


def tell_started(session: Session, started: BaseModel, run_id: UUID) -> None:
    """Name the started run, and say how to watch it."""
    if session.terminal.as_json:
        session.terminal.json(started.model_dump(mode="json"))
        return
    session.terminal.line(str(run_id))
    session.terminal.say(f"Watch it with: phaserunner watch {str(run_id)[:8]}")


async def watch_and_report(
    session: Session,
    run_id: UUID,
    *,
    stay: bool = False,
    timeout: float | None = None,
    after: int = 0,
) -> ExitCode:
    """Watch a run. Then suggest the next command, or write the run to standard output as JSON."""
    short = str(run_id)[:8]
    try:
        code = await watch_run(session, run_id, stay=stay, timeout=timeout, after=after)
    except asyncio.CancelledError:
        session.terminal.say(f"Stopped watching; the run continues. Watch it with: phaserunner watch {short}")
        raise
    if session.terminal.as_json:
        session.terminal.json(await session.api.whole(run_id))
    elif code is ExitCode.PASSED and (await session.api.run(run_id)).kind is RunKind.SPRINT:
        session.terminal.say(
            f"Review it: phaserunner diff {short}    Export it: phaserunner result {short} --branch NAME"
        )
    return code


async def logs(
    run: str,
    /,
    *,
    follow: Annotated[bool, Parameter(negative="")] = False,
    download: Path | None = None,
    format: Literal["text", "ndjson"] | None = None,  # noqa: A002 - the option's public name
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show the events of a run; with --json, one event per line.

    Args:
        run: Its id, or at least the first 6 characters of it.
        follow: Continue with new events until the run ends.
        download: Write the complete log of agents and tools to this file instead.
        format: Of the file: readable lines, or one JSON event per line [default: text].
    """
    if download is not None and follow:
        raise CliError("logs: give either --follow or --download")
    if format is not None and download is None:
        raise CliError("--format: needs --download; --json shows one event per line")
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        if download is not None:
            path = f"/runs/{run_id}/log"
            size = await session.api.download(path, root.cwd / download, {"format": format or "text"})
            session.terminal.say(f"{download}: {size:,} bytes")
            return ExitCode.PASSED
        try:
            await _write_events(session, run_id, follow=follow)
        except asyncio.CancelledError:
            session.terminal.say("Stopped following; the run continues")
            raise
    return ExitCode.PASSED


async def _write_events(session: Session, run_id: UUID, *, follow: bool) -> None:
    state = WatchedRun()
    async with aclosing(session.follow(run_id) if follow else session.api.events(run_id)) as events:
        async for event in events:
            if isinstance(event, Reset):
                state = WatchedRun(id=run_id, last_sequence=event.after)
                continue
            before, state = state, reduce(state, event)
            if state is not before:
                _write(session.terminal, event, state)


def _write(terminal: Terminal, event: Event, state: WatchedRun) -> None:
    if terminal.as_json:
        terminal.json(event.model_dump(mode="json"), indent=None)
        return
    said = notices(event, state) or (TerminalNotice("info", event.event.value, depth=3),)
    stamp = _stamp(event.timestamp)
    for each in said:
        for line in plain_lines(each):
            terminal.line(f"{stamp} {line}", look(each.state).style)


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"

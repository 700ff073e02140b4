"""`pause`, `resume` and `fork`: hold a run, continue it, or start a sprint from one of its attempts."""

from typing import Annotated, Any

from cyclopts import Parameter

from app.cli.commands.diff import attempt_of
from app.cli.commands.run import SprintLimits, policy_of
from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.words import KIND_WORDS
from app.schemas.api.run_details import RunDetail, RunFork


async def pause(
    run: str, /, *, reason: str = "", options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Pause a run: stop its agent. The interrupted attempt does not count.

    Args:
        run: Its id, or at least the first 6 characters of it.
        reason: Recorded with the run.
    """
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        changed = await session.api.json("POST", f"/runs/{run_id}/pause", body={"reason": reason})
        if session.terminal.as_json:
            session.terminal.json(changed)
        else:
            session.terminal.line(f"{KIND_WORDS.get(changed.get('kind'), 'Run')} {run_id} is paused")
            session.terminal.say(f"Resume it with: phaserunner resume {str(run_id)[:8]}")
    return ExitCode.PASSED


async def resume(run: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Resume a paused run where it stopped. A run that waits for its model tries again at once.

    Args:
        run: Its id, or at least the first 6 characters of it.
    """
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        changed = await session.api.json("POST", f"/runs/{run_id}/resume", body={})
        if session.terminal.as_json:
            session.terminal.json(changed)
        else:
            session.terminal.line(f"{KIND_WORDS.get(changed.get('kind'), 'Run')} {run_id} continues")
    return ExitCode.PASSED


async def fork(
    run: str,
    /,
    *,
    attempt: Annotated[
        str | None, Parameter(help="PHASE/NUMBER [default: the latest that changed files].")
    ] = None,
    guidance: str = "",
    name: str | None = None,
    bounds: SprintLimits = SprintLimits(),  # noqa: B008 - frozen
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Start a new sprint with the files of an attempt. The original sprint does not change.

    Args:
        run: Its id, or at least the first 6 characters of it.
        guidance: Part of every prompt; - reads standard input, @FILE reads a file. A sentence may begin
            with @.
        name: Name of the new sprint in lists.
    """
    async with root.session(options) as session:
        detail = await session.api.run(await find_run(session.api, run))
        phase, number = attempt_of(detail, attempt)
        said = root.read_message(guidance, "--guidance") if guidance else None
        fields: dict[str, Any] = {"phase": phase, "attempt": number, "guidance": said, "name": name}
        request = read_given(RunFork, fields | {"policy": policy_of(bounds)})
        body = request.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        changed = await session.api.json("POST", f"/runs/{detail.id}/fork", body=body)
        if session.terminal.as_json:
            session.terminal.json(changed)
        else:
            started = RunDetail.model_validate(changed)
            session.terminal.line(str(started.id))
            session.terminal.say(f"Watch it with: phaserunner watch {str(started.id)[:8]}")
    return ExitCode.PASSED

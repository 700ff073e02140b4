"""`pause`, `resume` and `fork`: hold a sprint, let it go on, begin another one with what an attempt left."""

from typing import Annotated, Any

from cyclopts import Parameter

from app.cli.commands.diff import attempt_of
from app.cli.commands.run import Bounds, policy_of
from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.identify import find_sprint
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.words import KIND_WORDS
from app.schemas.api.runs import RunDetail, RunFork


async def pause(
    sprint: str, /, *, reason: str = "", options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Hold a sprint: its agent is stopped, and the attempt that is interrupted is not used up.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
        reason: Recorded with the sprint.
    """
    async with root.session(options) as session:
        sprint_id = await find_sprint(session.api, sprint)
        answer = await session.api.json("POST", f"/runs/{sprint_id}/pause", body={"reason": reason})
        if session.terminal.as_json:
            session.terminal.json(answer)
        else:
            session.terminal.line(f"{KIND_WORDS.get(answer.get('kind'), 'Sprint')} {sprint_id} is paused")
            session.terminal.say(f"Let it go on with: phaserunner resume {str(sprint_id)[:8]}")
    return ExitCode.PASSED


async def resume(sprint: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Let a paused sprint go on from where it was.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
    """
    async with root.session(options) as session:
        sprint_id = await find_sprint(session.api, sprint)
        answer = await session.api.json("POST", f"/runs/{sprint_id}/resume", body={})
        if session.terminal.as_json:
            session.terminal.json(answer)
        else:
            session.terminal.line(f"{KIND_WORDS.get(answer.get('kind'), 'Sprint')} {sprint_id} goes on")
    return ExitCode.PASSED


async def fork(
    sprint: str,
    /,
    *,
    attempt: Annotated[
        str | None, Parameter(help="PHASE/NUMBER; the latest that changed something, when left out.")
    ] = None,
    guidance: str = "",
    name: str | None = None,
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Start another sprint with what an attempt left; the first one is not touched.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
        guidance: Told in the prompt of every attempt; - reads standard input, @FILE a file.
        name: What lists call the new sprint.
    """
    async with root.session(options) as session:
        detail = await session.api.sprint(await find_sprint(session.api, sprint))
        phase, number = attempt_of(detail, attempt)
        said = root.read_text(guidance, "--guidance") if guidance else None
        fields: dict[str, Any] = {"phase": phase, "attempt": number, "guidance": said, "name": name}
        request = read_given(RunFork, fields | {"policy": policy_of(bounds)})
        body = request.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        answer = await session.api.json("POST", f"/runs/{detail.id}/fork", body=body)
        if session.terminal.as_json:
            session.terminal.json(answer)
        else:
            started = RunDetail.model_validate(answer)
            session.terminal.line(str(started.id))
            session.terminal.say(f"Watch it with: phaserunner watch {str(started.id)[:8]}")
    return ExitCode.PASSED

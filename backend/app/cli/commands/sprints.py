"""`list`, `show` and `cancel`: sprints that exist."""

from datetime import UTC, datetime
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.identify import find_sprint
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.tables import print_table, sprint_lines, sprints_table
from app.schemas.runs import RunStatus
from app.schemas.sprints import SprintView


async def list_sprints(
    *,
    status: RunStatus | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 20,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List sprints, newest first.

    Args:
        status: Only those that stand so.
        limit: At most so many.
    """
    async with root.session(options) as session:
        filters = {"status": status.value} if status else {}
        found: list[SprintView] = []
        async for each in session.api.sprints(min(limit, 100), **filters):
            found.append(each)
            if len(found) == limit:
                break
        terminal = session.terminal
        if terminal.as_json:
            terminal.json([each.model_dump(mode="json") for each in found])
        elif found:
            print_table(terminal.out, sprints_table(found, datetime.now(UTC)))
        else:
            terminal.say('No sprints yet; start one with: phaserunner run "what to do" --repo PATH')
    return ExitCode.PASSED


async def show_sprint(sprint: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Show a sprint: phases, attempts, and the evidence of what failed.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
    """
    async with root.session(options) as session:
        terminal = session.terminal
        detail = await session.api.sprint(await find_sprint(session.api, sprint))
        if terminal.as_json:
            terminal.json(detail.model_dump(mode="json"))
            return ExitCode.PASSED
        for text, style in sprint_lines(detail):
            terminal.line(text, style)
        if detail.escalation_id is not None:
            terminal.line(
                f"A human is asked: phaserunner escalations show {str(detail.escalation_id)[:8]}", "yellow"
            )
    return ExitCode.PASSED


async def cancel_sprint(
    sprint: str, /, *, reason: str = "", options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Cancel a sprint; what it has done so far stays.

    Args:
        sprint: Its id, or the first 6 or more characters of it.
        reason: Recorded with the sprint.
    """
    async with root.session(options) as session:
        sprint_id = await find_sprint(session.api, sprint)
        answer = await session.api.cancel(sprint_id, reason)
        if session.terminal.as_json:
            session.terminal.json(answer)
        else:
            session.terminal.line(f"Sprint {sprint_id} is cancelled")
    return ExitCode.PASSED

"""`list`, `show` and `cancel`: sprints that exist."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.identify import find_sprint
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.tables import print_table, sprint_lines, sprints_table, subtask_lines
from app.cli.view.words import KIND_WORDS
from app.schemas.api.run_lists import RunSort
from app.schemas.api.runs import RunView
from app.schemas.runs import RunKind, RunStatus


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which runs are listed, in which order. Choices of one option are alternatives.

    Attributes:
        status: Only those that stand so; may be repeated, and so may --project and --agent.
        kind: Only sprints, loops or answers; may be repeated.
        needs_human: Only those that wait for a human.
        search: Only those with this in their name or goal, or at the beginning of their id.
        days: Only those created within so many days.
        project: Only those whose source is there, as sprints show it.
        agent: Only those of this agent, in the words sprints show.
        sort: Their order.
    """

    status: list[RunStatus] | None = None
    kind: list[RunKind] | None = None
    needs_human: Annotated[bool, Parameter(negative="")] = False
    search: str | None = None
    days: Annotated[int | None, Parameter(validator=Number(gte=1, lte=36_500))] = None
    project: list[str] | None = None
    agent: list[str] | None = None
    sort: RunSort = RunSort.NEWEST

    def query(self, now: datetime) -> dict[str, str | list[str]]:
        """The same as a query of the API; empty when everything is listed as ever."""
        given: dict[str, str | list[str] | None] = {
            "status": [each.value for each in self.status or ()],
            "kind": [each.value for each in self.kind or ()],
            "needs_human": "true" if self.needs_human else None,
            "q": self.search,
            "since": (now - timedelta(days=self.days)).isoformat() if self.days else None,
            "project": self.project,
            "agent": self.agent,
            "sort": self.sort.value if self.sort is not RunSort.NEWEST else None,
        }
        return {name: value for name, value in given.items() if value}


_EVERY = Filters()


async def list_sprints(
    *,
    filters: Filters = _EVERY,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 20,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List sprints, loops and answers, newest first.

    Args:
        filters: Which, in which order.
        limit: At most so many.
    """
    async with root.session(options) as session:
        query = filters.query(datetime.now(UTC))
        found: list[RunView] = []
        async for each in session.api.sprints(min(limit, 100), **query):
            found.append(each)
            if len(found) == limit:
                break
        terminal = session.terminal
        if terminal.as_json:
            terminal.json([each.model_dump(mode="json") for each in found])
        elif found:
            print_table(terminal.out, sprints_table(found, datetime.now(UTC)))
        elif query:
            terminal.say("No sprint fits these filters")
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
        found = await find_sprint(session.api, sprint)
        if terminal.as_json:
            terminal.json(await session.api.whole(found))
            return ExitCode.PASSED
        detail = await session.api.sprint(found)
        for text, style in sprint_lines(detail):
            terminal.line(text, style)
        if detail.kind is RunKind.DIRECTOR_LOOP:
            for text, style in subtask_lines((await session.api.loop(found)).subtasks):
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
            session.terminal.line(f"{KIND_WORDS.get(answer.get('kind'), 'Sprint')} {sprint_id} is cancelled")
    return ExitCode.PASSED

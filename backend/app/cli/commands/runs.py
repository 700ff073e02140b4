"""`list`, `show` and `cancel`: list, show and cancel runs of every kind."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.tables import print_table, run_lines, runs_table, subtask_lines
from app.cli.view.words import KIND_WORDS
from app.schemas.api.run_lists import RunSort
from app.schemas.api.runs import RunView
from app.schemas.runs import RunKind, RunStatus


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which runs to list, and their order. Repeated values of an option are alternatives.

    Attributes:
        status: Only runs with this status; repeatable.
        kind: Only runs of this kind; repeatable.
        needs_human: Only runs that wait for a person.
        search: Only runs with this text in their name or goal, or at the start of their id.
        days: Only runs created in the last so many days.
        project: Only runs with this source, as `show` prints it; repeatable.
        agent: Only runs of this agent, as `show` prints it; repeatable.
        sort: The order.
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
        """Return the query for the API; empty without filters."""
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


async def list_runs(
    *,
    filters: Filters = _EVERY,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 20,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List runs: sprints, loops and answers, newest first.

    Args:
        filters: Which runs, and their order.
        limit: The largest number of runs.
    """
    async with root.session(options) as session:
        query = filters.query(datetime.now(UTC))
        found: list[RunView] = []
        async for each in session.api.runs(min(limit, 100), **query):
            found.append(each)
            if len(found) == limit:
                break
        terminal = session.terminal
        if terminal.as_json:
            terminal.json([each.model_dump(mode="json") for each in found])
        elif found:
            print_table(terminal.out, runs_table(found, datetime.now(UTC)))
        elif query:
            terminal.say("No run matches these filters")
        else:
            terminal.say('No runs yet. Start one with: phaserunner run "what to do" --repo PATH')
    return ExitCode.PASSED


async def show_run(run: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Show a run: phases, attempts, and the evidence of failures.

    Args:
        run: Its id, or at least the first 6 characters of it.
    """
    async with root.session(options) as session:
        terminal = session.terminal
        found = await find_run(session.api, run)
        if terminal.as_json:
            terminal.json(await session.api.whole(found))
            return ExitCode.PASSED
        detail = await session.api.run(found)
        for text, style in run_lines(detail):
            terminal.prose(text, style)
        if detail.kind is RunKind.DIRECTOR_LOOP:
            for text, style in subtask_lines((await session.api.loop(found)).subtasks):
                terminal.line(text, style)
        if detail.escalation_id is not None:
            terminal.line(
                f"Waiting for a person: phaserunner escalations show {str(detail.escalation_id)[:8]}",
                "yellow",
            )
    return ExitCode.PASSED


async def cancel_run(
    run: str, /, *, reason: str = "", options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Cancel a run. Its work so far is kept.

    Args:
        run: Its id, or at least the first 6 characters of it.
        reason: Recorded with the run.
    """
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        cancelled = await session.api.cancel(run_id, reason)
        if session.terminal.as_json:
            session.terminal.json(cancelled)
        else:
            session.terminal.line(f"{KIND_WORDS.get(cancelled.get('kind'), 'Run')} {run_id} is cancelled")
    return ExitCode.PASSED

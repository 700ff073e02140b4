"""`backlog`: queues work to start later, shows it, and pauses it."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from cyclopts import App, Parameter
from cyclopts.validators import Number

from app.cli.commands.run import Worker, WorkOptions, describe
from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument, Session
from app.cli.view.text import one_line
from app.schemas.api.backlog import BacklogAdd, BacklogItemCreate

app = App(name="backlog")

_WORK = WorkOptions()
_WORKER = Worker()
_Limit = Annotated[int | None, Parameter(validator=Number(gte=1))]
_COLUMNS = {
    "running": "Running",
    "asks_human": "Needs a person",
    "in_review": "In review",
    "done": "Done",
}
_SHOWN = 10


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Order:
    """When an item starts.

    Attributes:
        priority: Higher ones start first [default: 0].
        after: Id of an item or run that must complete first; repeatable.
        after_merge: Id of an item or run whose pull request must be merged first; repeatable.
    """

    priority: int | None = None
    after: Annotated[list[str] | None, Parameter(negative="")] = None
    after_merge: Annotated[list[str] | None, Parameter(negative="")] = None

    @property
    def needs(self) -> list[dict[str, str]] | None:
        """The dependencies in the API's form; None if none are given."""
        if self.after is None and self.after_merge is None:
            return None
        needs = [{"on": each, "until": "accepted"} for each in self.after or []]
        return needs + [{"on": each, "until": "merged"} for each in self.after_merge or []]


@app.default
@app.command(name="list")
async def list_items(
    *, project: str | None = None, options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Show what waits and why, and what is in progress.

    Args:
        project: Only this project: the path or URL of its repository.
    """
    async with root.session(options) as session:
        params = None if project is None else {"project": project}
        board = await session.api.json("GET", "/backlog", params=params)
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(board)
        return ExitCode.PASSED
    terminal.line(f"Waiting: {board['waiting_total']}")
    for each in board["waiting"]:
        terminal.line(f"  {each['id']}  {each['priority']:>4}  {one_line(each['name'])}")
        if each["reason"]:
            terminal.line(f"      {one_line(each['reason'])}")
    for name, title in _COLUMNS.items():
        terminal.line(f"{title}: {board[name]['total']}")
        for run in board[name]["items"][:_SHOWN]:
            terminal.line(f"  {run['id']}  {run['status']:<9}  {one_line(run['name'])}")
    for each in board["projects"]:
        terminal.line(_project_line(each))
    return ExitCode.PASSED


@app.command
async def add(
    goal: str,
    /,
    *,
    work: WorkOptions = _WORK,
    worker: Worker = _WORKER,
    order: Order = Order(),
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Add a sprint to start later.

    Args:
        goal: What to do, in your words; - reads standard input, @FILE reads a file.
    """
    sprint = await describe(root, goal, work, worker)
    fields = {"sprint": sprint, "priority": order.priority or 0, "depends_on": order.needs or []}
    item = read_given(BacklogItemCreate, fields)
    async with root.session(options) as session:
        return await _add(session, root, options, read_given(BacklogAdd, {"items": [item]}))


@app.command(name="import")
async def import_items(file: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Add items from a file with one JSON object per line.

    Args:
        file: The file as @FILE, or - for standard input. Each line has `sprint`, and may have `key`,
            `priority` and `depends_on`.
    """
    text = root.read_text(file, "FILE")
    items = [_item(line, number) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    async with root.session(options) as session:
        return await _add(session, root, options, read_given(BacklogAdd, {"items": items}))


@app.command
async def issues(
    repository: str,
    /,
    *,
    label: Annotated[list[str] | None, Parameter(negative="")] = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=100))] = 50,
    priority: int = 0,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Add open issues of a repository in FORGES_FILE that have neither item nor run.

    Args:
        repository: URL of the repository.
        label: Only issues with this label; repeatable, then an issue must have all.
        limit: The largest number of issues.
        priority: Higher ones start first.
    """
    body = {"repository": repository, "labels": label or [], "limit": limit, "priority": priority}
    async with root.session(options) as session:
        found = await session.api.json("POST", "/backlog/issues", body=body)
    _tell_items(root, options, found)
    return ExitCode.PASSED


@app.command
async def change(
    item: UUID,
    /,
    *,
    order: Order = Order(),
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Change a waiting item's priority, or replace what it waits for.

    Args:
        item: The item's id.
    """
    body: dict[str, Any] = {} if order.priority is None else {"priority": order.priority}
    if order.needs is not None:
        body["depends_on"] = order.needs
    async with root.session(options) as session:
        found = await session.api.json("PATCH", f"/backlog/{item}", body=body)
    _tell_items(root, options, {"items": [found]})
    return ExitCode.PASSED


@app.command
async def remove(item: UUID, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Remove a waiting item.

    Args:
        item: The item's id.
    """
    async with root.session(options) as session:
        found = await session.api.json("DELETE", f"/backlog/{item}")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(found)
    else:
        terminal.line(f"Removed {one_line(found['name'])}")
    return ExitCode.PASSED


@app.command
async def pause(project: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Pause a project's backlog; runs that have started continue.

    Args:
        project: The path or URL of its repository, as `backlog list` prints it.
    """
    return await _change_project(root, options, {"project": project, "paused": True})


@app.command
async def resume(project: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Resume a project's backlog.

    Args:
        project: The path or URL of its repository, as `backlog list` prints it.
    """
    return await _change_project(root, options, {"project": project, "paused": False})


@app.command
async def limit(
    project: str,
    /,
    *,
    running: _Limit = None,
    waiting_for_humans: _Limit = None,
    open_pull_requests: _Limit = None,
    per_day: _Limit = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Set all limits of a project; limits that you leave out are removed.

    Args:
        project: The path or URL of its repository, as `backlog list` prints it.
        running: Runs at once.
        waiting_for_humans: Runs that wait for a person at once.
        open_pull_requests: Pull requests that are open at once.
        per_day: Runs that start in a day, in UTC.
    """
    limits = {
        "running": running,
        "waiting_for_humans": waiting_for_humans,
        "open_pull_requests": open_pull_requests,
        "per_day": per_day,
    }
    return await _change_project(root, options, {"project": project, "limits": limits})


async def _add(session: Session, root: Root, options: Options, request: BacklogAdd) -> int:
    # Defaults are sent, too: a source's kind may be one.
    body = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    found = await session.api.json("POST", "/backlog", body=body)
    _tell_items(root, options, found)
    return ExitCode.PASSED


async def _change_project(root: Root, options: Options, body: dict[str, Any]) -> int:
    async with root.session(options) as session:
        found = await session.api.json("PUT", "/backlog/projects", body=body)
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(found)
    else:
        terminal.line(_project_line(found))
    return ExitCode.PASSED


def _item(line: str, number: int) -> BacklogItemCreate:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CliError(f"line {number}: is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise CliError(f"line {number}: is not a JSON object")
    try:
        return read_given(BacklogItemCreate, cast("dict[str, Any]", found))
    except CliError as error:
        raise CliError(f"line {number}: {error.message}") from error


def _tell_items(root: Root, options: Options, found: dict[str, Any]) -> None:
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(found)
        return
    for each in found["items"]:
        terminal.line(f"{each['id']}  {one_line(each['name'])}")
    if not found["items"]:
        terminal.say("Nothing new")


def _project_line(found: dict[str, Any]) -> str:
    limits = found["limits"]
    words: dict[Literal["running", "waiting_for_humans", "open_pull_requests", "per_day"], str] = {
        "running": f"{found['running']} running",
        "waiting_for_humans": f"{found['waiting_for_humans']} waiting for people",
        "open_pull_requests": f"{found['open_pull_requests']} open pull requests",
        "per_day": f"{found['started_today']} started today",
    }
    parts = [f"{told}{f' of {limits[name]}' if limits[name] else ''}" for name, told in words.items()]
    state = f"paused by {one_line(found['paused_by'] or '')}; " if found["paused_at"] else ""
    return f"{one_line(found['project'])}: {state}{', '.join(parts)}"

"""`known-failures`: lists the tests that may fail at the base, and removes some."""

from typing import Annotated, Any, cast

from cyclopts import App, Parameter

from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.schemas.api.known_failures import KnownFailuresNamed

app = App(name="known-failures")


@app.default
@app.command(name="list")
async def list_known_failures(
    *, project: str | None = None, options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """List the tests that reviewers added with `escalations resolve --known-failures`.

    Args:
        project: Only this project: the path or URL of its repository.
    """
    async with root.session(options) as session:
        params = None if project is None else {"project": project}
        found = await session.api.json("GET", "/known-failures", params=params)
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(found)
        return ExitCode.PASSED
    shown = ""
    for each in cast("list[dict[str, Any]]", found["items"]):
        if each["project"] != shown:
            shown = each["project"]
            terminal.line(one_line(shown))
        by = f"{one_line(each['added_by'])}, {each['added_at'][:10]}, run {each['run_id'][:8]}"
        terminal.line(f"  {one_line(each['test'])}  ({by})")
    if not found["items"]:
        terminal.say("No reviewer has added any")
    elif found["total"] > len(found["items"]):
        terminal.say(f"and {found['total'] - len(found['items'])} more; name a project with --project")
    return ExitCode.PASSED


@app.command(name="remove")
async def remove_known_failures(
    project: str,
    /,
    *tests: str,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Remove known failures, so that later attempts ask about these tests again.

    Args:
        project: The path or URL of its repository, as `known-failures list` prints it.
        tests: Ids of tests.
        every: Remove all of the project's known failures.
    """
    if bool(tests) == every:
        raise CliError("TESTS: name tests, or give --all")
    named = read_given(KnownFailuresNamed, {"project": project, "test": list(tests)})
    async with root.session(options) as session:
        found = await session.api.json("DELETE", "/known-failures", params=named.model_dump())
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(found)
    else:
        terminal.line(f"Removed {found['removed']}")
    return ExitCode.PASSED

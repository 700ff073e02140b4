"""`webhooks`: what was sent to other services, what failed, and once more."""

from typing import Any, Literal, cast
from uuid import UUID

from cyclopts import App

from app.cli.api_client import PAGE
from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line

app = App(name="webhooks")


@app.default
@app.command(name="list")
async def list_deliveries(
    *,
    status: Literal["pending", "delivered", "failed", "any"] = "any",
    sprint: UUID | None = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List messages to other services, newest first, at most 100.

    Args:
        status: Only these; failed ones were given up.
        sprint: Only those about this sprint.
    """
    query = f"?limit={PAGE}" + (f"&status={status}" if status != "any" else "")
    query += f"&run_id={sprint}" if sprint else ""
    async with root.session(options) as session:
        document = await session.api.json("GET", f"/webhooks/deliveries{query}")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
        return ExitCode.PASSED
    items = cast("list[dict[str, Any]]", document["items"])
    for each in items:
        tries = f"{each['tries']} {'try' if each['tries'] == 1 else 'tries'}"
        what = f"{one_line(each['event']):<20}  {one_line(each['receiver'])}"
        terminal.line(f"{each['id']}  {each['status']:<9}  {tries:<8}  {what}")
        if each["last_error"]:
            terminal.line(f"    {one_line(each['last_error'])}")
    if not items:
        terminal.say("There are no such messages")
    return ExitCode.PASSED


@app.command
async def retry(message: UUID, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Send a message that was not taken again, as soon as a worker can.

    Args:
        message: Its id, as the list shows it.
    """
    async with root.session(options) as session:
        document = await session.api.json("POST", f"/webhooks/deliveries/{message}/retry")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
    else:
        terminal.line(f"Message {message} is sent again to {one_line(document['receiver'])}")
    return ExitCode.PASSED

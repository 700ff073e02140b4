"""`webhooks`: lists deliveries to other services, and retries failed ones."""

from typing import Annotated, Any, Literal, cast
from uuid import UUID

from cyclopts import App, Parameter

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
    run: Annotated[UUID | None, Parameter(name=("--run", "--sprint"))] = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List webhook deliveries, newest first, at most 100.

    Args:
        status: Only deliveries in this state; failed means that all retries are used up.
        run: Only deliveries about this run.
    """
    query = f"?limit={PAGE}" + (f"&status={status}" if status != "any" else "")
    query += f"&run_id={run}" if run else ""
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
        terminal.say("No deliveries match")
    return ExitCode.PASSED


@app.command
async def retry(message: UUID, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Queue a failed delivery again.

    Args:
        message: The delivery's id, as `webhooks list` prints it.
    """
    async with root.session(options) as session:
        document = await session.api.json("POST", f"/webhooks/deliveries/{message}/retry")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
    else:
        terminal.line(f"Delivery {message} is queued for {one_line(document['receiver'])}")
    return ExitCode.PASSED

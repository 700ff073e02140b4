"""`notify`: lists receivers of notifications, and tests one."""

from typing import Any, cast
from urllib.parse import quote

from cyclopts import App

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line

app = App(name="notify")


@app.default
@app.command(name="list")
async def list_receivers(*, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """List the receivers of NOTIFICATIONS_FILE."""
    async with root.session(options) as session:
        document = await session.api.json("GET", "/notifications")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
        return ExitCode.PASSED
    items = cast("list[dict[str, Any]]", document["items"])
    for each in items:
        decides = "  decides by links" if each["decide"] else ""
        terminal.line(f"{each['name']:<20}  {each['kind']:<8}  {', '.join(each['events'])}{decides}")
    if not items:
        terminal.say("No receivers; name a file of them in NOTIFICATIONS_FILE")
    return ExitCode.PASSED


@app.command(name="test")
async def try_receiver(name: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Send a test message to a receiver and show its response.

    Args:
        name: The receiver's name in NOTIFICATIONS_FILE.
    """
    async with root.session(options) as session:
        document = await session.api.json("POST", f"/notifications/{quote(name, safe='')}/test")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
    else:
        code = f"{document['code']} " if document["code"] is not None else ""
        verdict = "accepted the message" if document["taken"] else "did not accept the message"
        terminal.line(f"{one_line(name)} {verdict}: {code}{one_line(document['answer'])}")
    return ExitCode.PASSED if document["taken"] else ExitCode.INFRASTRUCTURE

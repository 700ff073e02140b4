"""`evaluators`: who judges."""

from typing import Any, cast

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line


async def evaluators(*, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """List the evaluators of each phase, and which of them are gates."""
    async with root.session(options) as session:
        document = await session.api.json("GET", "/evaluators")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
        return ExitCode.PASSED
    items = cast("list[dict[str, Any]]", document["items"] if isinstance(document, dict) else document)
    for each in items:
        words = "  ".join(
            one_line(f"{name}={_words(value)}") for name, value in each.items() if name != "name"
        )
        terminal.line(f"{each.get('name', '?'):<20}  {words}")
    return ExitCode.PASSED


def _words(value: object) -> str:
    if isinstance(value, list):
        return ",".join(str(each) for each in cast("list[object]", value))
    return str(value)

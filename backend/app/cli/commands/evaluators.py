"""`evaluators`: lists evaluators, and measures how far to trust them."""

from pathlib import Path
from typing import Any, cast

from cyclopts import App

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line

app = App(name="evaluators")
# Named by import path, because listing does not need what evaluating imports.
app.command(f"{__package__}.calibrate:calibrate", name="calibrate", help="Measure the evaluators on cases.")
app.command(f"{__package__}.calibrate:corpus", name="corpus", help="Write a built-in corpus to a directory.")
app.command(f"{__package__}.records:show", name="show", help="Show an evaluator's track record.")
app.command(
    f"{__package__}.records:verdicts", name="verdicts", help="List an evaluator's verdicts, newest first."
)
app.command(f"{__package__}.project:check", name="check", help="Check a project's phaserunner.toml.")


@app.default
async def evaluators(
    *, path: Path | None = None, options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """List the evaluators of each phase, whether they are gates, and where they come from.

    Args:
        path: A project; applies its phaserunner.toml to the evaluators of the local settings.
    """
    if path is not None:
        # Only needed for a project; listing the service's evaluators needs less.
        from app.cli.commands.project import describe  # noqa: PLC0415 - only to describe: keeps start-up quick

        document = await describe(root, path)
    else:
        async with root.session(options) as session:
            document = await session.api.json("GET", "/evaluators")
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json(document)
        return ExitCode.PASSED
    for each in cast("list[dict[str, Any]]", document["items"]):
        part = "gate" if each["gate"] else "observed" if each.get("observed") else "adviser"
        kind = "tool" if each["deterministic"] else "model"
        phases = ", ".join(each["phases"]) if each["phases"] else "every phase"
        source = each.get("source", "built-in")
        told = "" if source == "built-in" else f"  from {source}"
        line = f"{each['name']:<20}  {part:<8} {kind:<6} {each['category']:<16} {phases}{told}"
        terminal.line(one_line(line))
    return ExitCode.PASSED

"""`housekeeping`: deletes expired data of finished runs from the service's database and data directory."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.composition.chores import housekeeping as open_housekeeping

_WORDS = {
    "progress": "runs whose progress expires",
    "snapshots": "runs whose stored files expire",
    "snapshot_bytes": "bytes in these files",
    "directories": "run directories on this machine",
    "orphans": "directories on this machine that no run has",
    "answers": "stored responses of idempotent requests",
    "messages": "webhook deliveries",
    "jobs": "rows of finished jobs",
}


async def housekeeping(
    *,
    apply: Annotated[bool, Parameter(negative="")] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show what has expired under the RETENTION_* settings. Workers delete it every hour.

    Args:
        apply: Delete it now.
    """
    terminal = root.terminal(options)
    async with open_housekeeping(root.settings) as keeper:
        found = await keeper.trim() if apply else await keeper.look()
    if terminal.as_json:
        terminal.json({**asdict(found), "applied": apply})
        return ExitCode.PASSED
    for name, count in asdict(found).items():
        terminal.line(f"{count:>15,}  {_WORDS[name]}")
    if not apply:
        terminal.say("Nothing was deleted. Delete it with --apply")
    return ExitCode.PASSED

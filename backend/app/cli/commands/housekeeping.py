"""`housekeeping`: trims what runs that are over left; on the service's database and directory itself."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.composition.chores import housekeeping as open_housekeeping

_WORDS = {
    "progress": "runs whose progress is emptied",
    "snapshots": "runs whose files are deleted from the database",
    "snapshot_bytes": "bytes of these files",
    "directories": "directories of runs on this machine",
    "answers": "kept answers of requests",
    "messages": "webhook messages",
    "jobs": "rows of ended jobs",
}


async def housekeeping(
    *,
    apply: Annotated[bool, Parameter(negative="")] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show what is beyond retention, as the settings RETENTION_* say; workers trim it every hour.

    Args:
        apply: Trim it now.
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
        terminal.say("Nothing was changed; --apply trims it")
    return ExitCode.PASSED

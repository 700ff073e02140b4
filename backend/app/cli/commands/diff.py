"""`diff`: shows what an attempt changed."""

from typing import Annotated, Literal

from cyclopts import Parameter
from rich.text import Text

from app.cli.exits import CliError, ExitCode
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.terminal import Terminal
from app.cli.view.text import harmless
from app.schemas.api.run_details import RunDetail
from app.schemas.workspaces import CUT_HERE, Diff

_STYLES = {"+": "blue", "-": "red", "@": "cyan", "d": "bold"}


async def diff(
    run: str,
    /,
    *,
    attempt: Annotated[
        str | None, Parameter(help="PHASE/NUMBER [default: the latest that changed files].")
    ] = None,
    against: Literal["base", "previous"] = "base",
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show what an attempt changed. A pipe receives the plain patch.

    Args:
        run: Its id, or at least the first 6 characters of it.
        against: Compare with the commit the run started from, or with the previous attempt.
    """
    async with root.session(options) as session:
        terminal = session.terminal
        detail = await session.api.run(await find_run(session.api, run))
        phase, number = attempt_of(detail, attempt)
        path = f"/runs/{detail.id}/attempts/{phase}/{number}/diff"
        params = {"against": against}
        if not terminal.as_json and not terminal.out.is_terminal:
            patch = (await session.api.fetch(path, params=params, accept="text/x-diff")).content
            return _write_patch(terminal, patch, f"{phase}/{number}")
        document = await session.api.json("GET", path, params=params)
        if terminal.as_json:
            terminal.json(document)
            return ExitCode.PASSED
        found = Diff.model_validate(document)
        if not found.files:
            terminal.say(f"{phase}/{number} changed nothing")
        _write(terminal, found)
    return ExitCode.PASSED


def attempt_of(run: RunDetail, given: str | None) -> tuple[str, int]:
    """Return the attempt that `PHASE/NUMBER` names, or else the latest one with a commit.

    Raises:
        CliError: there is no such attempt.
    """
    made = [each for each in run.attempts if each.head_commit]
    if given is None:
        if not made:
            raise CliError("no attempt of the run has changed files yet")
        latest = max(made, key=lambda each: each.started_at)
        return latest.phase, latest.number
    phase, _, number = given.partition("/")
    for each in run.attempts:
        if each.phase == phase and number == str(each.number):
            return each.phase, each.number
    there = ", ".join(f"{each.phase}/{each.number}" for each in run.attempts) or "none yet"
    raise CliError(f"--attempt: there is no {given!r}; the run has: {there}")


def _write_patch(terminal: Terminal, patch: bytes, attempt: str) -> ExitCode:
    """Write the unified diff as it is; a cut one fails, so that no program takes it for the whole."""
    if not patch:
        terminal.say(f"{attempt} changed nothing")
    terminal.raw_bytes(patch)
    if patch.endswith(CUT_HERE.encode()):
        terminal.say("The diff is too large: the service has cut it", "yellow")
        return ExitCode.FAILED
    return ExitCode.PASSED


def _write(terminal: Terminal, found: Diff) -> None:
    for file in found.files:
        for line in harmless(file.patch).splitlines():
            terminal.out.print(Text(line, style=_STYLES.get(line[:1], "")), soft_wrap=True)
        if file.truncated or not file.patch:
            size = f"{file.additions} added, {file.deletions} removed"
            what = "binary" if file.binary else "cut here" if file.truncated else file.status
            terminal.say(f"{file.path}: {what} ({size})", "yellow")

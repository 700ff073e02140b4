"""`result`: shows or exports what a run produced."""

import tempfile
from pathlib import Path
from typing import Annotated
from uuid import UUID

from cyclopts import Parameter

from app.cli.exits import STANDARD_STREAM, CliError, ExitCode
from app.cli.identify import find_run
from app.cli.local_git import fetch_branch
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument, Session
from app.cli.view.text import one_line
from app.schemas.api.result_checks import ResultCheckView


async def result(  # noqa: PLR0913 - each way out is an option
    run: str,
    /,
    *,
    patch: Path | None = None,
    bundle: Path | None = None,
    branch: str | None = None,
    repo: Annotated[Path | None, Parameter(help="The local repository for --branch [default: .].")] = None,
    recheck: Annotated[bool, Parameter(negative="")] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show a run's result, or export it as a patch, a bundle or a branch.

    Args:
        run: Its id, or at least the first 6 characters of it.
        patch: Write a patch for `git apply` to this file; - is standard output.
        bundle: Write a Git bundle to this file.
        branch: Fetch the result as this branch. The working tree does not change.
        recheck: Merge the result into its target's current head and judge it again; exit code 1 if it fails.
    """
    if sum(each is not None for each in (patch, bundle, branch, recheck or None)) > 1:
        raise CliError("result: give only one of --patch, --bundle, --branch and --recheck")
    if repo is not None and branch is None:
        raise CliError("--repo: needs --branch")
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        if recheck:
            return await _recheck(session, run_id)
        if branch is not None:
            await _take_branch(session, run_id, branch, root.cwd / (repo or Path()).expanduser())
        elif patch is not None:
            await _take_patch(session, run_id, patch, root)
        elif bundle is not None:
            size = await session.api.download(f"/runs/{run_id}/result.bundle", root.cwd / bundle)
            session.terminal.say(f"{bundle}: {size:,} bytes; fetch from it with: git fetch {bundle}")
        else:
            await _show(session, run_id)
    return ExitCode.PASSED


async def _show(session: Session, run_id: UUID) -> None:
    terminal = session.terminal
    document = await session.api.json("GET", f"/runs/{run_id}/result")
    if terminal.as_json:
        terminal.json(document)
        return
    branch = one_line(str(document["branch"]))
    terminal.line(f"commit  {one_line(str(document['commit']))}")
    terminal.line(f"base    {one_line(str(document['base_commit']))}")
    terminal.line(f"branch  {branch}")
    if not document["is_final"]:
        terminal.line("Not final: the gates have not passed this output", "yellow")
    terminal.say(f"Export it: phaserunner result {str(run_id)[:8]} --branch {branch} --repo PATH")


async def _recheck(session: Session, run_id: UUID) -> int:
    terminal = session.terminal
    document = await session.api.json("POST", f"/runs/{run_id}/result/recheck", body={})
    found = ResultCheckView.model_validate(document)
    if terminal.as_json:
        terminal.json(document)
    elif found.state == "contained":
        terminal.line(f"{one_line(found.branch)} has every change already")
    else:
        at = f"{one_line(found.branch)} at {found.commit[:12]}"
        terminal.line(one_line(found.problem, 2000) or f"merges cleanly into {at}; judged there: passed")
    return ExitCode.FAILED if found.problem else ExitCode.PASSED


async def _take_patch(session: Session, run_id: UUID, to: Path, root: Root) -> None:
    path = f"/runs/{run_id}/result.patch"
    if str(to) == STANDARD_STREAM:
        session.terminal.raw_bytes((await session.api.fetch(path)).content)
        return
    size = await session.api.download(path, root.cwd / to)
    session.terminal.say(f"{to}: {size:,} bytes; apply it with: git apply {to}")


async def _take_branch(session: Session, run_id: UUID, branch: str, repository: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="phaserunner-") as directory:
        bundle = Path(directory) / "result.bundle"
        await session.api.download(f"/runs/{run_id}/result.bundle", bundle)
        commit = await fetch_branch(bundle, repository, branch)
    if session.terminal.as_json:
        session.terminal.json({"branch": branch, "commit": commit, "repository": str(repository)})
        return
    session.terminal.line(f"{branch} is at {commit[:12]} in {repository}")
    session.terminal.say(
        f"Your working tree did not change. Review: git diff HEAD...{branch}   Merge: git merge {branch}"
    )

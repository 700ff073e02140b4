"""Pushes a result to the remote repository from which its run started, as a new branch."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.errors import ConflictError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import reason
from app.workspaces.history.refs import check_branch
from app.workspaces.history.replacing import commit_like
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy, check_url, without_password
from app.workspaces.sources.remote import Remote, prepare_fetch
from app.workspaces.sources.scratch import beside, fetch_tip

_PROTECTED = ("protected branch", "GH006", "GH013")
_LOST_RACE = ("stale info", "already exists", "failed to update ref", "cannot lock ref")


@dataclass(frozen=True, slots=True)
class Push:
    """The input of a push.

    Attributes:
        source: the remote repository.
        branch: name of the branch there.
        commit: the commit to which the branch must point.
        replaces: commits that earlier pushes of the same run left there; they may be replaced.
        parents: commits on top of which `lay_onto` put `commit`; the first is the branch's. If empty, the
            branch
            belongs to the run.
    """

    source: GitSource
    branch: str
    commit: str
    replaces: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()


async def push_branch(push: Push, run: RunRepository, policy: SourcePolicy) -> str:
    """Push a commit of a run. Other people's commits on the branch are never overwritten.

    Args:
        push: what to push, and where to.
        run: the run's repository, which has the commit.
        policy: which sources and credentials are allowed.

    Returns:
        The commit to which the branch then points: the pushed one, or one that an earlier try put on top of
            its
        parents.

    Raises:
        InvalidInputError: the URL, the branch or the credential cannot be used.
        ConflictError: the branch holds other commits.
        WorkspaceError: the repository cannot be reached, or rejects the push.
    """
    ref = f"refs/heads/{check_branch(push.branch)}"
    check_url(push.source.url, policy)
    remote = await prepare_fetch(push.source, run.git.transport_env, policy)
    there = await _commit_at(ref, remote, run, policy)
    if there == push.commit:
        return push.commit
    if push.parents:
        if there is not None and there in push.replaces:
            return there
        await _push_on_top(push, there, run, remote, policy)
        return push.commit
    if there is not None and there not in push.replaces:
        raise ConflictError(
            f"the branch {push.branch} holds {there[:12]}, which this run did not push; it stays as it is",
            field="branch",
        )
    await _send(push, there, run, remote, policy)
    return push.commit


async def lay_onto(run: RunRepository, result: str, parents: Sequence[str], message: str) -> str:
    """Create a commit with the files of `result` on top of other commits. The same input gives the same id.

    Args:
        run: has `result`, and gets the new commit; it need not have the parents.
        result: its author and dates are kept.
        parents: full commit ids.
        message: the commit message.

    Raises:
        GitError: `result` is not here.
    """
    return await commit_like(run, result, await run.tree_of(result), parents, message)


async def _push_on_top(
    push: Push, there: str | None, run: RunRepository, remote: Remote, policy: SourcePolicy
) -> None:
    if there != push.parents[0]:
        moved = "is gone" if there is None else f"holds {there[:12]}, which was pushed meanwhile"
        raise ConflictError(f"the branch {push.branch} {moved}; it stays as it is", field="branch")
    async with beside(run, [run.path], [run.path], len(push.commit)) as scratch:
        # git sends only what the remote repository lacks, so it must know the remote's present commit.
        await fetch_tip(scratch, push.source.model_copy(update={"ref": push.branch}), policy)
        await _send(push, there, scratch, remote, policy)


async def _send(
    push: Push, there: str | None, repository: RunRepository, remote: Remote, policy: SourcePolicy
) -> None:
    ref = f"refs/heads/{push.branch}"
    lease = f"--force-with-lease={ref}:{there or ''}"
    command = ["push", "-q", "--no-verify", lease, "--", remote.url, f"{push.commit}:{ref}"]
    git = repository.git
    outcome = await git.attempt(command, repository.target, env=remote.env, timeout=policy.fetch_seconds)
    if outcome.returncode != 0 or outcome.timed_out:
        raise _refusal(push, reason(outcome))


async def _commit_at(ref: str, remote: Remote, run: RunRepository, policy: SourcePolicy) -> str | None:
    command = ["ls-remote", "-q", "--refs", "--", remote.url, ref]
    outcome = await run.git.attempt(command, run.target, env=remote.env, timeout=policy.fetch_seconds)
    if outcome.returncode != 0 or outcome.timed_out:
        raise WorkspaceError(f"the repository cannot be reached: {reason(outcome)}", field="source.url")
    found = dict(line.split("\t", 1)[::-1] for line in outcome.stdout.decode().splitlines())
    return found.get(ref)


def _refusal(push: Push, why: str) -> ConflictError | WorkspaceError:
    if any(each in why for each in _PROTECTED):
        return ConflictError(
            f"the branch {push.branch} is protected; choose another `branch` in FORGES_FILE: {why}",
            field="branch",
        )
    if any(each in why for each in _LOST_RACE):
        return ConflictError(f"the branch {push.branch} was changed at the same time: {why}", field="branch")
    return WorkspaceError(f"{without_password(push.source.url)} does not take the result: {why}")

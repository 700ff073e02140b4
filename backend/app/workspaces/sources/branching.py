"""Adds a run's result to its local source as a new branch."""

from app.core.errors import ConflictError, WorkspaceError
from app.workspaces.history.bundle import decode_bundle, object_count
from app.workspaces.history.git import Git, GitTarget, configuration_with, reason
from app.workspaces.history.refs import check_branch
from app.workspaces.sources.local import Located
from app.workspaces.sources.scratch import has_commit

# Writes to the owner's repository must survive a power cut and must not run a program from its configuration.
_FOR_OWNERS = {"core.fsync": "default", "core.alternateRefsCommand": "true"}


async def create_branch(found: Located, branch: str, bundle: bytes, git: Git) -> bool:
    """Add a result to a local repository as a new branch. Index, working tree and `HEAD` stay unchanged.

    Args:
        found: the repository.
        branch: name of the branch.
        bundle: the result of `RunRepository.bundle_for_export`.
        git: the git program.

    Returns:
        False if the branch already exists with this commit.

    Raises:
        InvalidInputError: `branch` is not a branch name.
        ConflictError: the branch exists with another commit, or its name conflicts with other branches.
        WorkspaceError: the repository cannot be written to, or lacks the commit the run started from.
    """
    ref = f"refs/heads/{check_branch(branch)}"
    given, target = decode_bundle(bundle), GitTarget(found.store)
    there = await git.attempt(["rev-parse", "--verify", "-q", ref], target)
    if there.returncode == 0:
        if there.stdout.decode().strip() == given.commit:
            return False
        raise ConflictError(f"{branch} exists and holds other commits; choose another name", field="branch")
    for commit in given.prerequisites:
        if not await has_commit(git, target, commit):
            raise WorkspaceError(f"{found.top} lacks the commit {commit[:12]} that the run started from")
    env = configuration_with(_FOR_OWNERS)
    if object_count(given.pack):
        command = ["index-pack", "--stdin", "--fix-thin"]
        stored = await git.attempt(command, target, stdin=given.pack, env=env)
        if stored.returncode != 0 or stored.timed_out:
            raise WorkspaceError(f"{found.top} does not take the result: {reason(stored)}")
    made = await git.attempt(["update-ref", ref, given.commit, "0" * len(given.commit)], target, env=env)
    if made.returncode != 0:
        raise ConflictError(f"{branch} cannot be created: {reason(made)}", field="branch")
    return True

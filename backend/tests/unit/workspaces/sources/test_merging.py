"""A result is tried on the present state of its source, and taken there as a branch."""

from pathlib import Path

import pytest

from app.core.errors import ConflictError, InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource, LocalSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.branching import create_branch
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, inspect_source
from app.workspaces.sources.local import locate
from app.workspaces.sources.merging import (
    MergeOutcome,
    merging_into_local,
    merging_into_remote,
)
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

POLICY = SourcePolicy(allow_file_urls=True)
BRANCH = "phaserunner/1234"


class Run:
    """A run's repository with a base and one result."""

    def __init__(self, repository: RunRepository, user: UserRepository, tmp_path: Path) -> None:
        self.repository = repository
        self.user = user
        self.base = ""
        self.head = ""
        self._tree = tmp_path / "tree"

    @property
    def source(self) -> LocalSource:
        return LocalSource(path=str(self.user.path))

    async def work(self, **files: str) -> None:
        """Import the source and commit a result that writes these files; `__` stands for a dot."""
        self.base = await import_source(self.source, self.repository, POLICY)
        await self.repository.checkout(self.base, self._tree)
        for name, content in files.items():
            (self._tree / name.replace("__", ".")).write_text(content)
        self.head = (await self.repository.commit_tree(self._tree, self.base, "work")).commit

    async def merge(self, branch: str | None = None) -> MergeOutcome:
        ends = (self.repository, self.base, self.head)
        async with merging_into_local(self.source, branch, POLICY, *ends) as merge:
            return merge.outcome

    async def fetch_and_merge(self, branch: str | None = None) -> MergeOutcome:
        remote = GitSource(url=f"file://{self.user.path}")
        ends = (self.repository, self.base, self.head)
        async with merging_into_remote(remote, branch, POLICY, *ends) as merge:
            return merge.outcome

    async def apply(self, git: Git, branch: str = BRANCH) -> bool:
        bundle = await self.repository.bundle_for_export(self.base, self.head, branch)
        return await create_branch(await locate(self.source, (), git), branch, bundle, git)


@pytest.fixture
def user(tmp_path: Path) -> UserRepository:
    """Two commits on `main`, at a path that a URL can hold."""
    repository = UserRepository(tmp_path / "user")
    repository.git("init", "-q", "-b", "main")
    (repository.path / "app.py").write_text("x = 1\n")
    repository.commit("one")
    (repository.path / "notes.txt").write_text("note\n")
    repository.commit("two")
    return repository


@pytest.fixture
def run(run_repository: RunRepository, user: UserRepository, tmp_path: Path) -> Run:
    return Run(run_repository, user, tmp_path)


async def test_a_branch_that_stayed_takes_the_result(run: Run, user: UserRepository) -> None:
    await run.work(app__py="x = 2\n")
    before = user.state()
    found = await run.merge()
    assert found == MergeOutcome("main", run.base, moved=False, state="clean")
    assert user.state() == before


async def test_a_branch_that_moved_elsewhere_takes_the_result(run: Run, user: UserRepository) -> None:
    await run.work(app__py="x = 2\n")
    (user.path / "notes.txt").write_text("another note\n")
    moved = user.commit("elsewhere")
    assert await run.merge() == MergeOutcome("main", moved, moved=True, state="clean")
    remote = await run.fetch_and_merge()
    assert (remote.commit, remote.state) == (moved, "clean")


async def test_files_in_conflict_are_named(run: Run, user: UserRepository) -> None:
    await run.work(app__py="x = 2\n", odd__txt="new\n", notes__txt="mine\n")
    (user.path / "app.py").write_text("x = 3\n")
    (user.path / "notes.txt").unlink()
    user.commit("the same lines")
    found = await run.merge("main")
    assert (found.state, found.conflicts) == ("conflicts", ("app.py", "notes.txt"))
    assert (await run.fetch_and_merge("main")).conflicts == found.conflicts


async def test_what_is_merged_already_is_contained(run: Run, user: UserRepository, git: Git) -> None:
    await run.work(app__py="x = 2\n")
    await run.apply(git)
    user.git("merge", "-q", BRANCH)
    assert (await run.merge()).state == "contained"
    assert (await run.fetch_and_merge()).state == "contained"


async def test_a_base_that_the_source_has_lost_is_compared_by_its_files(
    run: Run, user: UserRepository
) -> None:
    await run.work(app__py="x = 2\n")
    user.git("checkout", "-q", "--orphan", "fresh")
    (user.path / "more.txt").write_text("more\n")
    fresh = user.commit("history written anew")
    user.git("branch", "-q", "-D", "main")
    user.git("reflog", "expire", "--expire=now", "--all")
    user.git("gc", "-q", "--prune=now")
    assert await run.merge() == MergeOutcome("fresh", fresh, moved=True, state="clean")


async def test_a_shallow_source_is_merged_into(run: Run, user: UserRepository, tmp_path: Path) -> None:
    clone = UserRepository(tmp_path / "clone")
    clone.git("clone", "-q", "--depth=1", f"file://{user.path}", ".")
    run.user = clone
    await run.work(app__py="x = 2\n")
    (clone.path / "notes.txt").write_text("another note\n")
    clone.commit("elsewhere")
    assert (await run.merge()).state == "clean"


@pytest.mark.parametrize("branch", ["--upload-pack=x", "a..b", "a\nb", "", "x.lock"])
async def test_what_is_no_branch_name_is_refused(run: Run, git: Git, branch: str) -> None:
    await run.work(app__py="x = 2\n")
    for refused in (run.merge, run.fetch_and_merge):
        if branch:  # an empty name asks for the default branch
            with pytest.raises(InvalidInputError, match="is not a branch name"):
                await refused(branch)
    with pytest.raises(InvalidInputError, match="is not a branch name"):
        await run.apply(git, branch)


async def test_a_branch_that_is_not_there(run: Run) -> None:
    await run.work(app__py="x = 2\n")
    with pytest.raises(WorkspaceError, match="is not a commit, branch or tag"):
        await run.merge("gone")
    with pytest.raises(WorkspaceError, match="cannot be fetched"):
        await run.fetch_and_merge("gone")


async def test_a_source_that_is_gone_or_not_allowed(run: Run, tmp_path: Path) -> None:
    await run.work(app__py="x = 2\n")
    narrow = SourcePolicy(allowed_roots=(tmp_path / "elsewhere",))
    with pytest.raises(InvalidInputError, match="outside the allowed directories"):
        async with merging_into_local(run.source, None, narrow, run.repository, run.base, run.head):
            pass
    run.user.path.rename(tmp_path / "moved away")
    with pytest.raises(InvalidInputError, match="does not exist"):
        await run.merge()


async def test_a_result_becomes_a_branch_and_nothing_else_changes(
    run: Run, user: UserRepository, git: Git
) -> None:
    await run.work(app__py="x = 2\n")
    (user.path / "app.py").write_text("x = 9  # not committed\n")
    hook = user.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {user.path / 'hooked'}\n")
    hook.chmod(0o755)
    status, head = user.git("status", "--porcelain"), user.git("rev-parse", "HEAD")
    assert await run.apply(git)
    assert user.git("rev-parse", BRANCH) == run.head
    assert user.git("show", f"{BRANCH}:app.py") == "x = 2"
    assert user.git("log", "--format=%s", BRANCH).splitlines() == ["work", "two", "one"]
    assert (user.git("status", "--porcelain"), user.git("rev-parse", "HEAD")) == (status, head)
    assert not (user.path / "hooked").exists()
    user.git("fsck", "--strict")
    assert not await run.apply(git), "a repetition changes nothing"


async def test_a_branch_with_other_commits_stays(run: Run, user: UserRepository, git: Git) -> None:
    await run.work(app__py="x = 2\n")
    user.git("branch", BRANCH)
    with pytest.raises(ConflictError, match="holds other commits") as caught:
        await run.apply(git)
    assert caught.value.field == "branch"
    assert user.git("rev-parse", BRANCH) == run.base
    with pytest.raises(ConflictError, match="cannot be created"):
        await run.apply(git, f"{BRANCH}/below")


async def test_another_repository_does_not_take_the_result(
    run: Run, user: UserRepository, tmp_path: Path, git: Git
) -> None:
    await run.work(app__py="x = 2\n")
    run.user = UserRepository(tmp_path / "another")
    run.user.git("init", "-q", "-b", "main")
    run.user.commit("unrelated")
    with pytest.raises(WorkspaceError, match="lacks the commit"):
        await run.apply(git)
    assert run.user.git("branch", "--list", BRANCH) == ""


async def test_the_branch_a_run_starts_from_is_noted(run: Run, user: UserRepository, git: Git) -> None:
    user.git("branch", "other")
    user.git("tag", "v1")
    names = {"HEAD": "main", "other": "other", "v1": None, user.git("rev-parse", "HEAD"): None}
    for ref, branch in names.items():
        info = await inspect_source(run.source.model_copy(update={"ref": ref}), POLICY, git)
        assert info.branch == branch
    user.git("checkout", "-q", "--detach")
    assert (await inspect_source(run.source, POLICY, git)).branch is None
    await run.work(app__py="x = 2\n")
    assert (await run.merge()).branch == "HEAD"

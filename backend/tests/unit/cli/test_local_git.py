"""A result becomes a branch, and nothing else changes."""

import subprocess
from pathlib import Path

import pytest

from app.cli.exits import CliError
from app.cli.local_git import fetch_branch

pytestmark = pytest.mark.anyio


def git(where: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout.strip()


def commit(where: Path, text: str) -> str:
    (where / "a.txt").write_text(text)
    git(where, "add", "a.txt")
    git(where, "commit", "-q", "-m", text)
    return git(where, "rev-parse", "HEAD")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's repository, with uncommitted work in it."""
    where = tmp_path / "my project"
    where.mkdir()
    git(where, "init", "-q", "-b", "main")
    commit(where, "first")
    (where / "a.txt").write_text("not committed")
    (where / "new.txt").write_text("untracked")
    hook = where / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ../hook-ran; touch hook-ran\n")
    hook.chmod(0o755)
    return where


@pytest.fixture
def bundle(tmp_path: Path, user: Path) -> Path:
    """A result on top of the user's commit."""
    theirs = tmp_path / "theirs"
    git(tmp_path, "clone", "-q", str(user), str(theirs))
    commit(theirs, "result")
    path = tmp_path / "result.bundle"
    git(theirs, "bundle", "create", "-q", str(path), "main", "^main~1")
    return path


async def test_the_branch_is_made_and_the_tree_is_not_touched(user: Path, bundle: Path) -> None:
    before = (git(user, "status", "--porcelain"), git(user, "rev-parse", "HEAD"))
    made = await fetch_branch(bundle, user, "phaserunner/result")
    assert git(user, "rev-parse", "phaserunner/result") == made
    assert (git(user, "status", "--porcelain"), git(user, "rev-parse", "HEAD")) == before
    assert (user / "a.txt").read_text() == "not committed"
    assert not list(user.parent.rglob("hook-ran")), "no hook runs"
    assert await fetch_branch(bundle, user, "phaserunner/result") == made, "once more is no error"


@pytest.mark.parametrize(
    ("branch", "told"),
    [
        pytest.param("main", "--branch: main", id="checked out"),
        pytest.param("other", "holds other commits", id="taken"),
        pytest.param("bad..name", "not a branch name", id="not a name"),
        pytest.param("--force", "not a branch name", id="an option"),
        pytest.param("", "not a branch name", id="empty"),
    ],
)
async def test_branches_that_cannot_be_used(user: Path, bundle: Path, branch: str, told: str) -> None:
    git(user, "checkout", "-q", "-f", "-b", "other")
    commit(user, "something else")
    git(user, "checkout", "-q", "main")
    head = git(user, "rev-parse", "main")
    with pytest.raises(CliError, match=told):
        await fetch_branch(bundle, user, branch)
    assert git(user, "rev-parse", "main") == head


async def test_another_repository_lacks_the_base(tmp_path: Path, bundle: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    with pytest.raises(CliError, match="lacks the commit"):
        await fetch_branch(bundle, other, "result")


async def test_no_repository_and_no_bundle(tmp_path: Path, user: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(b"not a bundle")
    with pytest.raises(CliError, match="no git bundle"):
        await fetch_branch(junk, user, "result")
    with pytest.raises(CliError, match="not a directory"):
        await fetch_branch(junk, tmp_path / "missing", "result")
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(CliError, match="not a git repository"):
        await fetch_branch(junk, plain, "result")

"""A real git, repositories of a user, and the repository of a run."""

import subprocess
from pathlib import Path

import pytest

from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository

USER_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "User",
    "GIT_AUTHOR_EMAIL": "user@example.org",
    "GIT_COMMITTER_NAME": "User",
    "GIT_COMMITTER_EMAIL": "user@example.org",
}


class UserRepository:
    """A repository as its owner has it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run git like the owner would."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=USER_ENV, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str = "work") -> str:
        """Commit all there is."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def state(self) -> dict[str, tuple[int, int]]:
        """Every file with its time and size, to see whether anything was written."""
        return {
            str(each.relative_to(self.path)): (each.lstat().st_mtime_ns, each.lstat().st_size)
            for each in self.path.rglob("*")
        }


@pytest.fixture
def git() -> Git:
    return Git.find()


@pytest.fixture
def user(tmp_path: Path) -> UserRepository:
    """Three commits on `main`; the last holds `app.py`, `pkg/mod.py` and `notes.txt`."""
    repository = UserRepository(tmp_path / "user repo")
    repository.git("init", "-q", "-b", "main")
    (repository.path / "app.py").write_text("x = 1\n")
    repository.commit("one")
    (repository.path / "pkg").mkdir()
    (repository.path / "pkg" / "mod.py").write_text("y = 2\n" * 20)
    repository.commit("two")
    (repository.path / "notes.txt").write_text("note\n")
    repository.commit("three")
    return repository


@pytest.fixture
def run_repository(git: Git, tmp_path: Path) -> RunRepository:
    return RunRepository(git, tmp_path / "data dir" / "repo.git")

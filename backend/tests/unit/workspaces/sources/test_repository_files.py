"""Repositories whose files would make git wait for ever, or read where it must not."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError, WorkspaceError
from app.workspaces.sources.repository_files import check_repository_files


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """The allowed directory with a repository in it, and a secret one beside it."""
    for name in ("allowed/project", "secret"):
        place = tmp_path / name
        place.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(place)], check=True)
    return tmp_path / "allowed"


def check(roots: Path) -> None:
    check_repository_files("the project", roots / "project", [roots])


def test_a_plain_repository_is_taken(roots: Path) -> None:
    check(roots)
    (roots / "project" / "below").mkdir()
    check_repository_files("a directory in it", roots / "project" / "below", [roots])


def test_a_directory_that_is_no_repository_is_left_to_git(tmp_path: Path) -> None:
    check_repository_files("nothing", tmp_path, [])


@pytest.mark.parametrize(
    "name", ["HEAD", "packed-refs", "refs/heads/main", "objects/info/alternates", "config"]
)
def test_a_pipe_is_refused(roots: Path, name: str) -> None:
    place = roots / "project" / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(WorkspaceError, match=f"{name} in its git directory is not a file"):
        check(roots)


def test_a_pipe_in_the_place_of_git_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    with pytest.raises(WorkspaceError, match="neither a file nor a directory"):
        check_repository_files("the project", tmp_path, [])


def _objects_linked(git: Path, secret: Path) -> None:
    objects = git / "objects"
    for directory in (objects / "info", objects / "pack", objects):
        directory.rmdir()
    objects.symlink_to(secret / ".git" / "objects")


def _pack_linked(git: Path, secret: Path) -> None:
    (git / "objects" / "pack" / "x.pack").symlink_to(secret / "x.pack")


def _ref_linked(git: Path, secret: Path) -> None:
    (git / "refs" / "heads" / "main").symlink_to(secret / ".git" / "HEAD")


def _alternate(git: Path, secret: Path) -> None:
    (git / "objects" / "info" / "alternates").write_text(f"# comment\n{secret}/.git/objects\n")


def _relative_alternate(git: Path, secret: Path) -> None:
    (git / "objects" / "info" / "alternates").write_text("../../../../secret/.git/objects\n")


@pytest.mark.parametrize(
    "lead_out", [_objects_linked, _pack_linked, _ref_linked, _alternate, _relative_alternate]
)
def test_a_way_out_of_the_allowed_directories_is_refused(
    roots: Path, lead_out: Callable[[Path, Path], None]
) -> None:
    lead_out(roots / "project" / ".git", roots.parent / "secret")
    with pytest.raises(InvalidInputError, match="WORKSPACE_ROOTS"):
        check(roots)
    check_repository_files("without roots", roots / "project", [])

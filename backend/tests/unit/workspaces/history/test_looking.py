"""What an agent has changed so far is seen while it works, and the look leaves no trace."""

import os
from pathlib import Path

import pytest

from app.core.errors import WorkspaceError
from app.schemas.workspaces import Diff
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.history.looking import LOOK_LIMITS, look_at
from app.workspaces.history.repository import RunRepository
from tests.unit.workspaces.conftest import UserRepository
from tests.unit.workspaces.history.test_trees import Attempt, start

pytestmark = pytest.mark.anyio


@pytest.fixture
async def attempt(user: UserRepository, run_repository: RunRepository, tmp_path: Path) -> Attempt:
    return await start(user, run_repository, tmp_path)


async def look(attempt: Attempt) -> Diff:
    return await attempt.repository.look_at(attempt.tree, attempt.base)


def everything_below(place: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of each file and directory; git renews the times of packs whose objects it meets."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(place.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (info.st_mode, content)
    return found


async def test_changes_of_all_kinds_are_seen_and_nothing_is_touched(attempt: Attempt) -> None:
    (attempt.tree / "app.py").write_text("x = 2\n")
    (attempt.tree / "notes.txt").unlink()
    (attempt.tree / "new").mkdir()
    (attempt.tree / "new" / "file.py").write_text("y = 1\n")
    before = everything_below(attempt.repository.path), everything_below(attempt.tree.parent)
    diff = await look(attempt)
    assert {each.path: each.status for each in diff.files} == {
        "app.py": "modified",
        "new/file.py": "added",
        "notes.txt": "deleted",
    }
    assert "+x = 2" in diff.files[0].patch
    after = everything_below(attempt.repository.path), everything_below(attempt.tree.parent)
    for now, then in zip(after, before, strict=True):
        assert {path: now.get(path) for path in now | then if now.get(path) != then.get(path)} == {}
    outcome = await attempt.commit()
    assert outcome.changed_files == ("app.py", "new/file.py", "notes.txt")


async def test_an_untouched_tree_has_no_changes(attempt: Attempt) -> None:
    assert (await look(attempt)).files == ()


async def test_patches_are_bounded_and_every_file_is_named(attempt: Attempt) -> None:
    line = "x" * 99 + "\n"
    for number in range(8):
        (attempt.tree / f"large{number}.txt").write_text(line * 2_000)
    diff = await look(attempt)
    assert len(diff.files) == 8
    assert diff.truncated
    assert max(len(each.patch) for each in diff.files) <= LOOK_LIMITS.file_bytes
    assert sum(len(each.patch) for each in diff.files) <= LOOK_LIMITS.total_bytes


async def test_what_the_agent_plants_never_runs(
    attempt: Attempt, user: UserRepository, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    trap = f"touch '{marker}'; cat"
    for place in (attempt.tree, attempt.tree / "vendored"):
        planted = UserRepository(place)
        planted.git("init", "-q")
        for key in ("core.fsmonitor", "filter.evil.clean", "diff.external"):
            planted.git("config", key, trap)
    (attempt.tree / ".gitattributes").write_text("* filter=evil\n")
    (attempt.tree / "app.py").write_text("x = 3\n")
    os.mkfifo(attempt.tree / "pipe")
    (attempt.tree / "out").symlink_to("/etc/passwd")
    paths = [each.path for each in (await look(attempt)).files]
    assert "app.py" in paths
    assert not {"out", "pipe", ".git/config"} & set(paths)
    assert not marker.exists()


async def test_a_repository_in_the_place_of_a_submodule_is_not_asked(
    git: Git, run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    user.commit()
    head = user.git("rev-parse", "HEAD").strip()
    user.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    user.git("commit", "-q", "-m", "a submodule")
    attempt = await start(user, run_repository, tmp_path)
    marker = tmp_path / "marker"
    (attempt.tree / "sub").mkdir(exist_ok=True)
    planted = UserRepository(attempt.tree / "sub")
    planted.git("init", "-q")
    (planted.path / "a.txt").write_text("a\n")
    planted.commit()
    planted.git("config", "core.fsmonitor", f"touch '{marker}'; true")
    (planted.path / "a.txt").write_text("b\n")
    (attempt.tree / "app.py").write_text("x = 3\n")
    assert "app.py" in [each.path for each in (await look(attempt)).files]
    assert not marker.exists()


async def test_a_tree_that_is_gone_or_too_large_is_refused(attempt: Attempt, git: Git) -> None:
    path = attempt.repository.path
    with pytest.raises(WorkspaceError, match="too large"):
        await look_at(git, path, attempt.tree, attempt.base, WorkspaceLimits(max_files=1))
    with pytest.raises(WorkspaceError, match="gone"):
        await look_at(git, path, attempt.tree.parent / "none", attempt.base, WorkspaceLimits())

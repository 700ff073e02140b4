"""The shares of the slow tests: together they are all, and the commit chooses one."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import shards

SETTINGS = "[pytest]\ntestpaths = tests\npythonpath = .\n"


def test_the_shares_together_are_all_slow_files() -> None:
    files = shards.slow_files(Path(shards.__file__).parent)
    shares = [shards.shard_of_files(files, number) for number in range(1, shards.SHARDS + 1)]
    assert sorted(file for share in shares for file in share) == files
    assert all(any(place in str(file) for file in files) for place in shards.SLOW)


def test_neighbours_belong_to_different_shares(tmp_path: Path) -> None:
    place = tmp_path / shards.SLOW[0]
    place.mkdir(parents=True)
    names = [f"test_{number}.py" for number in range(shards.SHARDS)]
    for name in [*names, "helper.py"]:
        (place / name).touch()
    files = shards.slow_files(tmp_path)
    assert [file.name for file in files] == names
    assert [shards.shard_of_files(files, each)[0].name for each in range(1, shards.SHARDS + 1)] == names


def test_consecutive_commits_run_all_shares(tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run([*git, "init", "--quiet"], check=True)
    seen: list[str] = []
    for _ in range(shards.SHARDS):
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "One more"], check=True)
        seen.append(shards.shard_of_commit(tmp_path))
    assert sorted(seen) == [str(number) for number in range(1, shards.SHARDS + 1)]


def test_without_a_history_everything_runs(tmp_path: Path) -> None:
    assert shards.shard_of_commit(tmp_path) == shards.ALL


@pytest.mark.parametrize(
    ("options", "ran"),
    [
        pytest.param(["--shard=2"], ["b", "fast"], id="one"),
        pytest.param(["--shard=2", "-n1"], ["b", "fast"], id="one, in a worker"),
        pytest.param(["--shard=commit", "-n1"], ["a", "b", "c", "d", "fast"], id="no history, in a worker"),
        pytest.param(["--shard=2", "tests/acceptance/test_c.py"], ["c"], id="a file that is named"),
    ],
)
def test_what_runs(tmp_path: Path, options: list[str], ran: list[str]) -> None:
    slow = tmp_path / "tests" / "acceptance"
    slow.mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (slow.parent / "__init__.py").touch()
    (slow.parent / "conftest.py").write_text('pytest_plugins = ["tests.shards"]\n')
    shutil.copy(shards.__file__, slow.parent)
    for file in (slow.parent / "test_fast.py", *(slow / f"test_{each}.py" for each in "abcd")):
        file.write_text("def test_it(): pass\n")
    run = [sys.executable, "-m", "pytest", "-rA", *options]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if line.startswith("PASSED")]
    assert sorted(Path(each.partition("::")[0]).stem.removeprefix("test_") for each in found) == ran, (
        done.stdout
    )

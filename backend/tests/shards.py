"""Divides the slow tests: `--shard=2` runs all fast tests, and the second share of the files with slow ones.

`--shard=commit` chooses the share by the number of commits, so that consecutive commits check all of them.
Without the option, and if files are named, everything that is asked for runs.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

SHARDS = 4
SLOW = (
    "acceptance",
    "browser",
    "faults",
    "integration/agents",
    "integration/evaluators",
    "integration/services",
    "unit/runners/evaluators/static",
    "unit/runners/evaluators/testing",
)
"""The directories whose tests start services, browsers, sandboxes or whole gates: nine tenths of the time."""

ALL = "all"
BY_COMMIT = "commit"
_SHARD = "shard"
_TESTS = Path(__file__).parent
_LEFT_OUT = pytest.StashKey[set[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shard",
        default=ALL,
        choices=[ALL, BY_COMMIT, *map(str, range(1, SHARDS + 1))],
        help=f"run all fast tests and one of {SHARDS} shares of the files with slow ones",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Settle which share runs. Workers parse the same options, and get what was settled."""
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        config.option.shard = given[_SHARD]
    elif config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        config.option.shard = ALL
    elif config.option.shard == BY_COMMIT:
        config.option.shard = shard_of_commit(_TESTS)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker which share runs."""
    node.workerinput[_SHARD] = node.config.option.shard


def pytest_report_header(config: pytest.Config) -> str | None:
    if config.option.shard == ALL:
        return None
    files = slow_files(_TESTS)
    chosen = shard_of_files(files, int(config.option.shard))
    return f"shard {config.option.shard} of {SHARDS}: {len(chosen)} of {len(files)} files with slow tests"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the slow files of the other shares."""
    if config.option.shard == ALL:
        return None
    if _LEFT_OUT not in config.stash:
        files = slow_files(_TESTS)
        config.stash[_LEFT_OUT] = {*files} - {*shard_of_files(files, int(config.option.shard))}
    return True if collection_path in config.stash[_LEFT_OUT] else None


def slow_files(tests: Path) -> list[Path]:
    """List the files with slow tests by path."""
    return sorted(file for place in SLOW for file in (tests / place).rglob("test_*.py"))


def shard_of_files(files: list[Path], number: int) -> list[Path]:
    """Choose the files of a share, from 1; neighbours belong to different ones."""
    return files[number - 1 :: SHARDS]


def shard_of_commit(place: Path) -> str:
    """Name the share that the checked-out commit runs, or all of them without a history."""
    counted = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=place, capture_output=True, text=True, check=False
    )
    return str(int(counted.stdout) % SHARDS + 1) if counted.returncode == 0 else ALL

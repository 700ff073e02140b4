"""Locks between processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded.locks import is_taken, take_lock


def test_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "a lock"
    with take_lock(path, seconds=0):
        assert is_taken(path)
        with pytest.raises(DatabaseSetupError, match=r"held .*a lock for 0 seconds"):
            take_lock(path, seconds=0)
    assert not is_taken(path)
    take_lock(path, seconds=0).close()


def test_shared_holders_keep_an_exclusive_one_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with take_lock(path, shared=True, seconds=0), take_lock(path, shared=True, seconds=0):
        assert not is_taken(path)
        with pytest.raises(DatabaseSetupError):
            take_lock(path, seconds=0)


def test_a_lock_ends_with_the_last_process_that_inherited_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with take_lock(path, seconds=0) as lock:
        process = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock.fileno()]
        )
    assert is_taken(path)
    process.kill()
    process.communicate()
    assert not is_taken(path)


def test_other_children_do_not_inherit_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with take_lock(path, seconds=0):
        process = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=False,
        )
    assert process.stdout is not None
    process.stdout.readline()  # what is not handed on is closed a moment after the program was started
    was_taken = is_taken(path)
    process.communicate(b"\n")
    assert not was_taken


def test_nobody_else_can_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    take_lock(path, seconds=0).close()
    assert path.stat().st_mode & 0o777 == 0o600

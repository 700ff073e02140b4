"""Telling our server from other processes, whose ids a stale file may name."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.db.embedded import reaper
from app.db.embedded.locks import take_lock

PID_FILES = {
    "nothing": "",
    "not a number": "abc\n/data\n",
    "zero, which would signal our whole group": "0\n",
    "minus one, which would signal everybody": "-1\n",
    "no such process": "2147483646\n",
    "a program that is no Postgres": f"{os.getpid()}\n",
    "binary": "\udcff\x00\n",
}


@contextmanager
def _looks_like(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [arguments[0], "-c", "read line; exit 0", *arguments[1:]]
    with subprocess.Popen(command, executable="/bin/sh", stdin=subprocess.PIPE) as process:
        yield process
        process.communicate(b"\n")


@pytest.mark.parametrize("content", PID_FILES.values(), ids=PID_FILES.keys())
def test_files_that_name_no_server(content: str, tmp_path: Path) -> None:
    (tmp_path / "postmaster.pid").write_text(content, errors="surrogateescape")
    assert reaper.postmaster_pid(tmp_path) is None


def test_no_file(tmp_path: Path) -> None:
    assert reaper.postmaster_pid(tmp_path) is None


def test_a_server_of_other_data_is_not_ours_and_is_not_stopped(tmp_path: Path) -> None:
    lock = tmp_path / "server.lock"
    with _looks_like("/usr/lib/postgresql/15/bin/postgres", "-D", "/elsewhere") as other:
        (tmp_path / "postmaster.pid").write_text(f"{other.pid}\n{tmp_path}\n")
        assert reaper.postmaster_pid(tmp_path) is None
        lock.touch()
        with lock.open("r+b") as server:
            assert reaper.stop(tmp_path, server)
    assert other.returncode == 0


def test_nothing_is_stopped_twice(tmp_path: Path) -> None:
    lock = tmp_path / "server.lock"
    take_lock(lock, seconds=0).close()
    with lock.open("r+b") as server:
        assert reaper.stop(tmp_path, server)
        assert reaper.stop(tmp_path, server)

"""Installations of Postgres that only pretend."""

from collections.abc import Callable
from pathlib import Path

import pytest

MakeInstall = Callable[..., Path]


@pytest.fixture
def make_install(tmp_path: Path) -> MakeInstall:
    """Make a directory of scripts that answer like `postgres --version` and do what `initdb` is told to."""

    def make(name: str, *, answer: str = "postgres (PostgreSQL) 18.4", initdb: str = "exit 0") -> Path:
        directory = tmp_path / name / "bin"
        directory.mkdir(parents=True)
        for program, script in {"postgres": f"echo '{answer}'", "initdb": initdb}.items():
            path = directory / program
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        return directory

    return make

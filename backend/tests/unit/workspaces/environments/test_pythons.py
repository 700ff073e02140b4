"""Interpreters that version managers installed are found; nothing else that lies there is taken for one."""

import json
from pathlib import Path

import pytest
from uv import find_uv_bin

from app.workspaces.environments.outcome import EnvironmentUnavailable, Reason
from app.workspaces.environments.pythons import Interpreter, choose_python

pytestmark = pytest.mark.anyio
UV = Path(find_uv_bin())


def install(root: Path, version: str, says: str | None = None) -> Path:
    """Put a program where a version manager would, that says which version it is."""
    program = root / version / "bin" / "python3"
    program.parent.mkdir(parents=True)
    told = json.dumps([str(program), says or version])
    program.write_text(f"#!/bin/sh\necho '{told}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("place", "variables"),
    [
        (".pyenv/versions", {}),
        (".asdf/installs/python", {}),
        (".local/share/mise/installs/python", {}),
        ("elsewhere/versions", {"PYENV_ROOT": "elsewhere"}),
    ],
    ids=["pyenv", "asdf", "mise", "a place of its own"],
)
async def test_the_newest_that_fits_is_taken(tmp_path: Path, place: str, variables: dict[str, str]) -> None:
    root = tmp_path / place
    install(root, "3.98.2")
    newest = install(root, "3.98.11")
    install(root, "3.99.0")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    env |= {name: str(tmp_path / value) for name, value in variables.items()}
    assert await choose_python(UV, ">=3.98,<3.99", "", env) == Interpreter(newest, "3.98.11")
    pinned = await choose_python(UV, "", "3.98.2", env)
    assert isinstance(pinned, Interpreter)
    assert pinned.version == "3.98.2"


@pytest.mark.parametrize("place", ["shims", "3.98", "3.98.1-debug", "pypy3.98.1"])
async def test_what_is_no_installed_version_is_passed_by(tmp_path: Path, place: str) -> None:
    install(tmp_path / ".pyenv/versions", place, says="3.98.1")
    found = await choose_python(UV, ">=3.98", "", {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert isinstance(found, EnvironmentUnavailable)
    assert found.reason is Reason.NO_PYTHON


async def test_what_a_program_says_counts_and_not_its_place(tmp_path: Path) -> None:
    root = tmp_path / ".pyenv/versions"
    install(root, "3.98.1", says="3.2.1")
    (root / "3.98.2/bin").mkdir(parents=True)
    (root / "3.98.2/bin/python3").write_text("no program")
    found = await choose_python(UV, ">=3.98", "", {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert isinstance(found, EnvironmentUnavailable)


async def test_without_a_home_there_are_none(tmp_path: Path) -> None:
    found = await choose_python(UV, ">=3.98", "", {"PATH": "/usr/bin:/bin"})
    assert isinstance(found, EnvironmentUnavailable)

"""Cargo's presets test every member of a workspace."""

import subprocess
from pathlib import Path

import pytest

from app.runners.evaluators.commands.presets import PRESETS

PACKAGE = '[package]\nname = "a"\n'
WORKSPACE = '[workspace]\nmembers = ["core"]\n'


@pytest.mark.parametrize("preset", ["cargo-test", "nextest", "clippy"])
@pytest.mark.parametrize(
    ("manifest", "every"),
    [
        pytest.param(PACKAGE, False, id="a package"),
        pytest.param(WORKSPACE, False, id="a workspace without a package, which cargo tests as a whole"),
        pytest.param(PACKAGE + WORKSPACE, True, id="a package with members"),
        pytest.param(PACKAGE + WORKSPACE + 'default-members = ["."]\n', False, id="the project chooses"),
    ],
)
def test_members_below_a_package(tmp_path: Path, preset: str, manifest: str, *, every: bool) -> None:
    (tmp_path / "Cargo.toml").write_text(manifest)
    cargo = tmp_path / "cargo"
    cargo.write_text('#!/bin/sh\necho "$@"\n')
    cargo.chmod(0o755)
    run = {str(name): each.run for name, each in PRESETS.items()}[preset]
    assert isinstance(run, str)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    said = subprocess.run(["/bin/sh", "-c", run], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert (b"--workspace" in said.stdout) is every

"""What tests of the judge's front doors share: projects in git, and a root of the command line."""

import io
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from rich.console import Console

from app.cli.root import Root
from app.composition.judging import evaluation_service
from app.core.config import Settings
from app.services.local.evaluations import EvaluationService

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def lay_out(place: Path, files: Mapping[str, str]) -> None:
    """Write files below a directory."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def git(place: Path, *arguments: str) -> str:
    """Run git in a directory; give what it printed."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout.strip()


def commit_all(place: Path, message: str) -> str:
    """Commit all files of a directory, in a new repository if there is none; give the commit."""
    if not (place / ".git").is_dir():
        git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-qm", message)
    return git(place, "rev-parse", "HEAD")


def judging_with(settings: Settings) -> AbstractAsyncContextManager[EvaluationService]:
    """Open the service that judges directories."""
    return evaluation_service(settings)


def root_at(place: Path, stdin: str = "") -> tuple[Root, io.StringIO]:
    """A root of the command line that writes standard output to the text that is returned, too."""
    out = io.StringIO()
    settings = Settings(_env_file=None, DATA_DIR=place / "data")
    consoles = [Console(file=each, markup=False, width=200) for each in (out, io.StringIO())]
    return Root(settings, consoles[0], consoles[1], io.StringIO(stdin), place), out

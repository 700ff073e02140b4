"""What the `[source]` table of a project's file asks to be fetched: submodules and files in LFS."""

import tomllib
from pathlib import Path

from app.schemas.project_file import PROJECT_FILE, SourceTable

MAX_BYTES = 1_000_000
"""Of a project file; what lies beyond is not read."""


def asked_in(tree: Path) -> SourceTable:
    """Return what the project file of a directory asks for."""
    try:
        with (tree / PROJECT_FILE).open("rb") as handle:
            return asked_by(handle.read(MAX_BYTES))
    except OSError:
        return SourceTable()


def asked_by(content: bytes) -> SourceTable:
    """Return what a project file asks for: nothing if it is not valid, as its verdict will say."""
    try:
        return SourceTable.model_validate(tomllib.loads(content.decode()).get("source", {}))
    except ValueError:
        return SourceTable()

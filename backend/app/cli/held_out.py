"""Reads held-out tests from a patch or a directory, as `--held-out` names it."""

import os
from pathlib import Path

from app.cli.exits import CliError
from app.schemas.held_out import MAX_HELD_OUT_BYTES, MAX_HELD_OUT_FILES

_OPTION = "--held-out"
_LEFT_OUT = frozenset({"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv"})


def held_out_from(path: Path) -> dict[str, object]:
    """Return held-out tests in the form of a request.

    Args:
        path: a unified diff, or a directory with files at the paths that they must have in the project.

    Raises:
        CliError: it cannot be read, is not text, or is too large. The message names the file.
    """
    if path.is_dir():
        return {"files": {name: _text(path / name) for name in _names_in(path)}}
    return {"patch": _text(path)}


def _names_in(directory: Path) -> list[str]:
    names: list[str] = []
    for place, directories, files in os.walk(directory):
        directories[:] = sorted(set(directories) - _LEFT_OUT)
        names += [(Path(place) / name).relative_to(directory).as_posix() for name in sorted(files)]
        if len(names) > MAX_HELD_OUT_FILES:
            raise CliError(f"{_OPTION}: {directory} has more than {MAX_HELD_OUT_FILES} files")
    if not names:
        raise CliError(f"{_OPTION}: {directory} has no files")
    return names


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file():
            what = "does not exist" if not path.exists() else "is not a regular file"
            raise CliError(f"{_OPTION}: {path} {what}")
        if path.stat().st_size > MAX_HELD_OUT_BYTES:
            raise CliError(f"{_OPTION}: {path} has more than {MAX_HELD_OUT_BYTES:,} bytes")
        # Line endings are kept, because a patch may change them.
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{_OPTION}: {path} cannot be read as UTF-8 text: {error}") from error

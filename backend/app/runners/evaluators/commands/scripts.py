"""Reads the scripts of a command. A candidate may have replaced them by anything."""

from pathlib import Path

_MAX_SCRIPT_BYTES = 200_000


def script_text(path: Path) -> str:
    """Return the beginning of a script as text; empty if it is a link or cannot be read."""
    return script_bytes(path).decode("utf-8", "replace")


def script_bytes(path: Path) -> bytes:
    """Return the beginning of a script; empty if it is a link or cannot be read."""
    try:
        if path.is_symlink():
            return b""
        with path.open("rb") as file:
            return file.read(_MAX_SCRIPT_BYTES)
    except OSError:
        return b""

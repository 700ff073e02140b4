"""File operations confined to one workspace: no way out through `..`, absolute paths or symbolic links."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MAX_READ_BYTES = 2_000_000
MAX_WRITE_CHARS = 1_000_000
MAX_SHOWN_CHARS = 60_000
MAX_LISTED = 1_000
MAX_STATES = 50_000
"""Maximum number of files that `file_states` returns."""

SKIPPED_DIRECTORIES = frozenset(
    {
        ".git",
        ".hg",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
    }
)
"""Directories that are neither listed nor searched: caches, installed packages and version control."""


class FileRefusedError(Exception):
    """The operation cannot or must not be done. The message is for the caller."""


def file_states(root: Path) -> Iterator[tuple[str, int, int]]:
    """Yield path, size and time of change (ns) of a directory's files, without skipped directories."""
    seen = 0
    for place, directories, names in os.walk(root):
        directories[:] = [each for each in directories if each not in SKIPPED_DIRECTORIES]
        for name in names:
            path = os.path.join(place, name)
            try:
                found = os.lstat(path)
            except OSError:
                continue
            yield path, found.st_size, found.st_mtime_ns
            seen += 1
            if seen >= MAX_STATES:
                return


class WorkspaceFiles:
    """The files below one directory. Paths are relative to it, with `/`; text is UTF-8."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    @property
    def root(self) -> Path:
        """The directory, with symbolic links resolved."""
        return self._root

    def locate(self, path: str) -> Path:
        """Return the absolute path of `path`, with symbolic links resolved.

        Raises:
            FileRefusedError: it is outside the workspace or inside `.git`.
        """
        if not path or "\0" in path:
            raise FileRefusedError("the path is empty or holds a NUL")
        parts = Path(path).parts
        if Path(path).is_absolute() or ".." in parts:
            raise FileRefusedError(f"{path}: paths are relative to the workspace and have no '..'")
        try:
            place = (self._root / path).resolve()
        except (OSError, RuntimeError) as error:
            raise FileRefusedError(f"{path}: not a usable path") from error
        if not place.is_relative_to(self._root):
            raise FileRefusedError(f"{path}: leads out of the workspace through a symbolic link")
        if any(part.casefold() == ".git" for part in place.relative_to(self._root).parts):
            raise FileRefusedError(f"{path}: agents must not change version control")
        return place

    def read(self, path: str) -> str:
        """Return a file's text.

        Raises:
            FileRefusedError: there is no such file, or it is too large or binary.
        """
        place = self._existing_file(path)
        if place.stat().st_size > MAX_READ_BYTES:
            raise FileRefusedError(f"{path}: {place.stat().st_size:,} bytes are too many to read")
        try:
            data = place.read_bytes()
        except OSError as error:
            raise FileRefusedError(f"{path}: {error.strerror}") from error
        if b"\0" in data:
            raise FileRefusedError(f"{path}: a binary file of {len(data):,} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileRefusedError(f"{path}: a binary file, or text that is not UTF-8") from error

    def write(self, path: str, content: str) -> bool:
        """Write a whole file, creating its directories. Return True if the file is new.

        Raises:
            FileRefusedError: it is too large, or something other than a directory is in the way.
        """
        place = self.locate(path)
        if len(content) > MAX_WRITE_CHARS:
            raise FileRefusedError(f"{path}: {len(content):,} characters are too many to write")
        if place == self._root or place.is_dir():
            raise FileRefusedError(f"{path}: is a directory")
        is_new = not place.exists()
        if not is_new:
            _require_regular(path, place)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode("utf-8", "replace"))
        except OSError as error:
            raise FileRefusedError(f"{path}: {error.strerror}") from error
        return is_new

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the only occurrence of `old`.

        Raises:
            FileRefusedError: `old` is empty, absent, or occurs more than once.
        """
        if not old:
            raise FileRefusedError(f"{path}: the text to replace is empty")
        text = self.read(path)
        found = text.count(old)
        if found != 1:
            raise FileRefusedError(
                f"{path}: the text to replace is there {found} times; it must be there exactly once"
            )
        self.write(path, text.replace(old, new))

    def delete(self, path: str) -> None:
        """Delete a file. For a symbolic link, delete the link itself.

        Raises:
            FileRefusedError: there is no such file.
        """
        self.locate(str(Path(path).parent))
        link = self._root / path
        place = link if link.is_symlink() and ".." not in Path(path).parts else self._existing_file(path)
        try:
            place.unlink()
        except OSError as error:
            raise FileRefusedError(f"{path}: {error.strerror}") from error

    def listing(self, path: str = ".") -> list[str]:
        """Return the sorted files below a directory: at most `MAX_LISTED`, and one more line for the rest.

        Raises:
            FileRefusedError: it is not a directory of the workspace.
        """
        place = self.locate(path)
        if not place.is_dir():
            raise FileRefusedError(f"{path}: not a directory")
        found: list[str] = []
        for file in _walk(place):
            if len(found) == MAX_LISTED:
                found.append(f"… more than {MAX_LISTED} files; list a subdirectory")
                break
            found.append(file.relative_to(self._root).as_posix())
        return found

    def _existing_file(self, path: str) -> Path:
        place = self.locate(path)
        if place.is_dir():
            raise FileRefusedError(f"{path}: is a directory")
        if not place.exists():
            raise FileRefusedError(f"{path}: no such file")
        _require_regular(path, place)
        return place


def _require_regular(path: str, place: Path) -> None:
    # Opening a pipe or a device could block for ever.
    if not stat.S_ISREG(place.stat().st_mode):
        raise FileRefusedError(f"{path}: not a regular file")


def _walk(top: Path) -> Iterator[Path]:
    for directory, subdirectories, names in os.walk(top):
        subdirectories[:] = sorted(name for name in subdirectories if name not in SKIPPED_DIRECTORIES)
        with suppress(OSError):
            yield from (Path(directory, name) for name in sorted(names))

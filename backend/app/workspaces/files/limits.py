"""The limits on a workspace's size."""

from dataclasses import dataclass

from app.core.errors import WorkspaceError


@dataclass(frozen=True, slots=True)
class WorkspaceLimits:
    """Limits on the files of one tree, not counting caches and installed packages."""

    max_files: int = 50_000
    max_bytes: int = 1_000_000_000

    def holds(self, files: int, size: int) -> bool:
        """Return True if this many files and bytes are allowed."""
        return files <= self.max_files and size <= self.max_bytes

    def check(self, what: str, files: int, size: int, *, field: str | None = None) -> None:
        """Refuse a size above the limits.

        Raises:
            WorkspaceError: the size is above the limits. The message gives the figures and the settings'
                names.
        """
        if files > self.max_files:
            raise WorkspaceError(
                f"{what} has {files:,} files; at most {self.max_files:,} are allowed (WORKSPACE_MAX_FILES)",
                field=field,
            )
        if size > self.max_bytes:
            raise WorkspaceError(
                f"{what} has {size:,} bytes; at most {self.max_bytes:,} are allowed (WORKSPACE_MAX_BYTES)",
                field=field,
            )


DEFAULT_LIMITS = WorkspaceLimits()

"""How much a workspace may hold."""

from dataclasses import dataclass

from app.core.errors import WorkspaceError


@dataclass(frozen=True, slots=True)
class WorkspaceLimits:
    """Bounds on the files of one tree, caches and installed packages left aside."""

    max_files: int = 50_000
    max_bytes: int = 1_000_000_000

    def holds(self, files: int, size: int) -> bool:
        """Tell whether this much is allowed."""
        return files <= self.max_files and size <= self.max_bytes

    def check(self, what: str, files: int, size: int, *, field: str | None = None) -> None:
        """Refuse more than is allowed.

        Raises:
            WorkspaceError: with the figures and the names of the settings.
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

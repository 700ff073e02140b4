"""Chooses the account that runs the server: the present one, or an unprivileged one for root."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import DatabaseSetupError


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """The account that runs the server; `uid` and `gid` are None for the account of this process."""

    uid: int | None = None
    gid: int | None = None

    def process_options(self) -> dict[str, Any]:
        """Return the keyword arguments with which `subprocess` starts a program under this account."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Make the account the owner of a path."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can_reach(self, path: Path) -> bool:
        """Return whether the account may enter every directory above `path`."""
        return self.closed_above(path) is None

    def closed_above(self, path: Path) -> Path | None:
        """Return the first directory above `path`, from the root, that the account may not enter."""
        if self.uid is None:
            return None
        above = reversed(Path(os.path.realpath(path)).parents)
        return next((each for each in above if not self._may(each, stat.S_IXOTH)), None)

    def can_run(self, program: Path) -> bool:
        """Return whether the account may start the program."""
        return self.can_reach(program) and self._may(program, stat.S_IROTH | stat.S_IXOTH)

    def _may(self, path: Path, rights: int) -> bool:
        """Return whether the account has `rights`, given as the bits for others (`S_IROTH`, `S_IXOTH`)."""
        if self.uid is None:
            return True
        try:
            found = path.stat()
        except FileNotFoundError:
            return True  # the path does not exist yet
        if found.st_uid == self.uid:
            shift = 6
        elif found.st_gid == self.gid:
            shift = 3
        else:
            shift = 0
        return (found.st_mode >> shift) & rights == rights


def server_account(data: Path) -> ServerAccount:
    """Return the account for the server; Postgres refuses to run as root.

    For root, this is the owner of an existing data directory, so that the data stay usable when accounts are
    added and removed. For a new directory it is `postgres`, or else `nobody`.

    Args:
        data: Postgres' data directory, which need not exist.

    Raises:
        DatabaseSetupError: this process is root, and there is no unprivileged account.
    """
    if os.geteuid() != 0:
        return ServerAccount()
    if data.is_dir() and (owner := data.stat()).st_uid != 0:
        return ServerAccount(owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerAccount(entry.pw_uid, entry.pw_gid)
    raise DatabaseSetupError(
        "Postgres does not run as root, and there is neither an account 'postgres' nor 'nobody'; "
        "start PhaseRunner under an ordinary account, or name a server in DATABASE_URL"
    )

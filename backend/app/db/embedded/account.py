"""Which account the server runs under: ours, or an unprivileged one when we are root."""

import hashlib
import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import DatabaseSetupError
from app.db.embedded.binaries import Binaries

SYSTEM_HOME = Path("/var/lib/phaserunner")


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the server; `uid` and `gid` are None for the account of this process."""

    uid: int | None = None
    gid: int | None = None

    def process_options(self) -> dict[str, Any]:
        """Keyword arguments for `subprocess` that start a program under this account."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give a path to the account."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can_reach(self, path: Path) -> bool:
        """True when the account may enter every directory above `path`."""
        return self.uid is None or all(self._may_enter(parent) for parent in path.resolve().parents)

    def _may_enter(self, directory: Path) -> bool:
        try:
            found = directory.stat()
        except OSError:
            return True  # it will be made by us, open enough
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def server_account() -> Account:
    """The account for the server; Postgres refuses to run as root.

    Raises:
        DatabaseSetupError: this is root, and there is no unprivileged account.
    """
    if os.geteuid() != 0:
        return Account()
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise DatabaseSetupError(
        "Postgres does not run as root, and there is neither an account 'postgres' nor 'nobody'; "
        "start PhaseRunner under an ordinary account, or name a server in DATABASE_URL"
    )


def place_for(data_dir: Path, account: Account) -> Path:
    """Where the cluster goes: inside `data_dir`, or below /var/lib when the account cannot get there.

    Directories that are closed to others, such as root's home, stay closed.
    """
    wanted = data_dir.resolve() / "postgres"
    if account.can_reach(wanted):
        return wanted
    digest = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:16]
    return SYSTEM_HOME / digest


def reachable_binaries(binaries: Binaries, account: Account) -> Binaries:
    """The binaries, copied below /var/lib when the account cannot get at them where they are."""
    if account.can_reach(binaries.directory / "postgres"):
        return binaries
    copy = SYSTEM_HOME / f"pginstall-{binaries.version}"
    if not copy.is_dir():
        SYSTEM_HOME.mkdir(mode=0o755, parents=True, exist_ok=True)
        partial = SYSTEM_HOME / f".pginstall-{binaries.version}-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(binaries.directory.parent, partial, symlinks=True)
        partial.chmod(0o755)
        try:
            partial.rename(copy)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)  # another process was faster
    return Binaries(copy / "bin", binaries.version)

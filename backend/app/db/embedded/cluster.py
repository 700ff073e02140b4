"""The cluster's directory: made once as a whole, checked before each start, never overwritten."""

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import Account
from app.db.embedded.binaries import Binaries

USER = "app"
DATABASE = "phaserunner"
INITDB_SECONDS = 120
_LOCALES = (["--locale=C.UTF-8"], ["--locale=C"])


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the parts of an embedded server are."""

    home: Path

    @property
    def data(self) -> Path:
        """Postgres' data directory."""
        return self.home / "data"

    @property
    def password_file(self) -> Path:
        """The superuser's password, readable for us alone."""
        return self.home / "password"

    @property
    def log(self) -> Path:
        """What the server prints."""
        return self.home / "server.log"

    @property
    def pid_file(self) -> Path:
        """Postgres' own: process id in line 1, port in line 4."""
        return self.data / "postmaster.pid"

    def password(self) -> str:
        """The superuser's password.

        Raises:
            DatabaseSetupError: the file is gone or unreadable.
        """
        try:
            return self.password_file.read_text().strip()
        except OSError as error:
            raise DatabaseSetupError(
                f"the database's password cannot be read: {error}. Restore {self.password_file}, "
                f"or move {self.home} away to start with an empty database"
            ) from error

    def url(self, port: int, database: str = DATABASE) -> str:
        """How to reach a database of the running server."""
        return f"postgresql://{USER}:{self.password()}@127.0.0.1:{port}/{database}"


def prepare_home(cluster: Cluster, account: Account) -> None:
    """Make the directory that holds everything.

    Raises:
        DatabaseSetupError: it cannot be made or written to.
    """
    try:
        cluster.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        account.own(cluster.home)
    except OSError as error:
        raise DatabaseSetupError(
            f"the directory for the database cannot be made: {error}. Choose another one with DATA_DIR"
        ) from error


def ensure_cluster(cluster: Cluster, binaries: Binaries, account: Account) -> None:
    """Make the cluster if there is none; refuse one of another major version and leave it alone.

    The caller holds the start lock.

    Raises:
        DatabaseSetupError: it cannot be made or used.
    """
    version_file = cluster.data / "PG_VERSION"
    if version_file.is_file():
        found = version_file.read_text().strip()
        if found != binaries.major:
            raise DatabaseSetupError(
                f"{cluster.data} was made by Postgres {found}, but the binaries in {binaries.directory} are "
                f"version {binaries.version}. Nothing was changed. Dump it with Postgres {found} and restore "
                f"it, put binaries of version {found} on PATH, or choose another DATA_DIR"
            )
        return
    if cluster.data.exists():
        raise DatabaseSetupError(
            f"{cluster.data} is there but is not a Postgres data directory; nothing was changed. "
            "Move it away, or choose another DATA_DIR"
        )
    _make(cluster, binaries, account)


def _make(cluster: Cluster, binaries: Binaries, account: Account) -> None:
    for leftover in cluster.home.glob("data.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh = cluster.home / f"data.new-{os.getpid()}"
    handed = cluster.home / f"password.new-{os.getpid()}"
    password = secrets.token_urlsafe(24)
    try:
        _write_private(cluster.password_file, password)
        _write_private(handed, password)
        account.own(handed)
        _initdb(fresh, handed, binaries, account)
        fresh.rename(cluster.data)
    except OSError as error:
        raise DatabaseSetupError(f"the database cannot be created: {error}") from error
    finally:
        handed.unlink(missing_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)


def _initdb(fresh: Path, password_file: Path, binaries: Binaries, account: Account) -> None:
    said = ""
    for locale in _LOCALES:
        shutil.rmtree(fresh, ignore_errors=True)
        command = [
            *(binaries.path("initdb"), "-D", str(fresh), "-U", USER, "-A", "scram-sha-256"),
            *(f"--pwfile={password_file}", "-E", "UTF8", "--no-instructions", *locale),
        ]
        try:
            done = subprocess.run(
                command,
                cwd=fresh.parent,
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


def explain(said: str) -> str:
    """Turn what Postgres printed into a reason, with the way out where it is known."""
    lines = [line for line in said.splitlines() if line.strip()]
    tail = " / ".join(lines[-4:])
    if "No space left on device" in said:
        return f"the disk is full. Free some space, or choose another DATA_DIR ({tail})"
    if "Permission denied" in said:
        return f"a permission is missing. Choose a DATA_DIR that is yours ({tail})"
    return tail or "it said nothing"


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)

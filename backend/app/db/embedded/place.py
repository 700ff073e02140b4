"""Chooses the place of cluster and binaries: as given, or below /var/lib if the account cannot reach it.

Directories that are closed to others, such as root's home, stay closed.
"""

import hashlib
import logging
import os
import shutil
from pathlib import Path

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import Account, server_account
from app.db.embedded.binaries import Binaries
from app.db.embedded.cluster import Cluster

logger = logging.getLogger(__name__)

SYSTEM_HOME = Path("/var/lib/phaserunner")
_PARTS = ("bin", "lib", "share")


def find_place(data_dir: Path, system_home: Path) -> tuple[Cluster, Account]:
    """Where the cluster of `data_dir` is or will be, and the account for its server.

    A cluster that exists is never left behind for an empty one at the other place.

    Raises:
        DatabaseSetupError: there is one that the account cannot reach, or there is no account.
    """
    wanted = Path(os.path.realpath(data_dir)) / "postgres"
    digest = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:16]
    near, far = Cluster(wanted), Cluster(system_home / digest)
    account = server_account(near.data)
    closed = account.closed_above(near.home)
    if near.data.exists():
        if closed is not None:
            raise DatabaseSetupError(
                f"there is a database in {near.home}, but the account it belongs to may not enter {closed}. "
                f"Give it that right (chmod o+x '{closed}'), or move {near.home} to a DATA_DIR it can reach. "
                "Nothing was changed"
            )
        return near, account
    if far.data.exists() or closed is not None:
        return far, server_account(far.data)
    return near, account


def prepare_home(cluster: Cluster, account: Account, system_home: Path) -> None:
    """Make the directory that holds everything; the account may pass through it, but not change it.

    As root we write here: in a directory of the unprivileged account it could lay links for us.

    Raises:
        OSError: it cannot be made.
    """
    if cluster.home.parent == system_home:
        _make_system_home(system_home)
    cluster.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account.gid is not None and cluster.home.stat().st_uid == os.geteuid():
        os.chown(cluster.home, -1, account.gid)
        cluster.home.chmod(0o710)


def reachable_binaries(binaries: Binaries, account: Account, system_home: Path) -> Binaries:
    """The binaries, copied below `system_home` when the account cannot run them where they are.

    Raises:
        OSError: they cannot be copied.
    """
    if account.can_run(binaries.directory / "postgres"):
        return binaries
    copy = system_home / f"pginstall-{binaries.version}"
    install = binaries.directory.parent
    if not copy.is_dir():
        _make_system_home(system_home)
        _copy_install(install, copy)
        logger.info("Postgres' binaries were copied to %s, where the server's account can run them", copy)
    return Binaries(copy / install.parent.name / install.name / "bin", binaries.version)


def _copy_install(install: Path, target: Path) -> None:
    """Copy an installation and the libraries a wheel keeps beside its package, as they lie to each other.

    `site-packages/package/install/bin` finds its libraries in `site-packages/package.libs`.
    """
    package = install.parent
    partial = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    parts = {install / part: partial / package.name / install.name / part for part in _PARTS}
    libraries = f"{package.name}.libs"
    parts[package.parent / libraries] = partial / libraries
    try:
        for source, copy in parts.items():
            if source.is_dir():
                shutil.copytree(source, copy, symlinks=True)
        _open_for_reading(partial)
        partial.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _open_for_reading(tree: Path) -> None:
    """Let everybody read our copy: a restrictive umask may have closed the original."""
    for directory, _, files in os.walk(tree):
        Path(directory).chmod(0o755)
        for path in (Path(directory) / name for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)


def _make_system_home(system_home: Path) -> None:
    if not system_home.is_dir():
        system_home.mkdir(parents=True, exist_ok=True)
        system_home.chmod(0o755)  # whatever the umask

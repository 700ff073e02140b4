"""Chooses the directories of cluster and binaries: the given ones, or ones in /var/lib.

The second place is for accounts that cannot reach the first. Directories that are closed to others, such as
root's home, stay closed.
"""

import hashlib
import logging
import os
import shutil
from pathlib import Path

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import ServerAccount, server_account
from app.db.embedded.binaries import Binaries
from app.db.embedded.cluster import Cluster

logger = logging.getLogger(__name__)

SYSTEM_HOME = Path("/var/lib/phaserunner")
_PARTS = ("bin", "lib", "share")


def find_place(data_dir: Path, system_home: Path) -> tuple[Cluster, ServerAccount]:
    """Return the present or future cluster of `data_dir`, and the account for its server.

    An existing cluster is never abandoned for an empty one in the other place.

    Raises:
        DatabaseSetupError: the account cannot reach an existing cluster, or there is no account.
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


def prepare_home(cluster: Cluster, account: ServerAccount, system_home: Path) -> None:
    """Create the directory that holds everything; the account may enter it but not change it.

    Root writes here. In a directory of the unprivileged account, that account could plant
    links for root to follow.

    Raises:
        OSError: the directory cannot be created.
    """
    if cluster.home.parent == system_home:
        _make_system_home(system_home)
    cluster.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account.gid is not None and cluster.home.stat().st_uid == os.geteuid():
        os.chown(cluster.home, -1, account.gid)
        cluster.home.chmod(0o710)


def reachable_binaries(binaries: Binaries, account: ServerAccount, system_home: Path) -> Binaries:
    """Return the binaries, copied below `system_home` if the account cannot run them in place.

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
        logger.info("copied the Postgres programs to %s, where the server's account can run them", copy)
    return Binaries(copy / install.parent.name / install.name / "bin", binaries.version)


def _copy_install(install: Path, target: Path) -> None:
    """Copy an installation and the libraries beside its package in a wheel, in the same relative places.

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
        if not target.is_dir():  # if it exists, another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _open_for_reading(tree: Path) -> None:
    """Make the copy readable for all accounts: a restrictive umask may have closed the original."""
    for directory, _, files in os.walk(tree):
        Path(directory).chmod(0o755)
        for path in (Path(directory) / name for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)


def _make_system_home(system_home: Path) -> None:
    if not system_home.is_dir():
        system_home.mkdir(parents=True, exist_ok=True)
        system_home.chmod(0o755)  # despite any umask

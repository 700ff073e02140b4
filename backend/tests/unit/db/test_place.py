"""What another account can reach, and where things go when it cannot."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import ServerAccount, server_account
from app.db.embedded.binaries import Binaries
from app.db.embedded.cluster import Cluster
from app.db.embedded.place import find_place, prepare_home, reachable_binaries
from tests.unit.db.conftest import MakeInstall

STRANGER = ServerAccount(uid=4_000_001, gid=4_000_002)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the account")
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="root needs another account")


@pytest.fixture
def opened() -> Iterator[Path]:
    """A directory that every account can reach."""
    path = Path(tempfile.mkdtemp(prefix="phaserunner test "))
    path.chmod(0o755)
    if not STRANGER.can_reach(path):
        shutil.rmtree(path)
        pytest.skip("the temporary directory is closed to other accounts")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def closed(opened: Path) -> Path:
    """One that only its owner can enter."""
    path = opened / "closed"
    path.mkdir()
    path.chmod(0o700)
    return path


def test_a_closed_directory_is_named(closed: Path) -> None:
    assert STRANGER.closed_above(closed / "deeper" / "still") == closed
    assert STRANGER.can_reach(closed)
    assert STRANGER.can_reach(closed.parent / "not" / "made" / "yet")
    assert ServerAccount().can_reach(closed / "deeper")


@pytest.mark.parametrize(
    ("mode", "account", "may"),
    [
        pytest.param(0o700, ServerAccount(os.getuid(), 1), True, id="owner"),
        pytest.param(0o070, ServerAccount(os.getuid(), os.getgid()), False, id="owner without the right"),
        pytest.param(0o710, ServerAccount(4_000_001, os.getgid()), True, id="group"),
        pytest.param(0o705, ServerAccount(4_000_001, os.getgid()), False, id="group without the right"),
        pytest.param(0o701, STRANGER, True, id="others"),
        pytest.param(0o766, STRANGER, False, id="reading is not entering"),
    ],
)
def test_rights(mode: int, account: ServerAccount, may: bool, opened: Path) -> None:
    directory = opened / "directory"
    directory.mkdir()
    os.chown(directory, os.getuid(), os.getgid())
    directory.chmod(mode)
    assert account.can_reach(directory / "file") is may
    directory.chmod(0o700)


@as_user
def test_an_ordinary_account_keeps_everything_in_the_data_directory(closed: Path) -> None:
    cluster, account = find_place(closed, closed / "system")
    assert (cluster.home, account) == (closed / "postgres", ServerAccount())
    assert server_account(closed) == ServerAccount()


@as_root
def test_root_gives_the_server_another_account(opened: Path) -> None:
    cluster, account = find_place(opened / "data dir", opened / "system")
    assert cluster.home == opened / "data dir" / "postgres"
    assert account.uid
    prepare_home(cluster, account, opened / "system")
    found = cluster.home.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (0, account.gid, 0o710)


@as_root
def test_below_a_closed_directory_the_cluster_goes_elsewhere(closed: Path, opened: Path) -> None:
    system = opened / "system"
    cluster, account = find_place(closed / "data", system)
    assert cluster.home.parent == system
    assert find_place(closed / "other", system)[0] != cluster
    umask = os.umask(0o077)
    try:
        prepare_home(cluster, account, system)
    finally:
        os.umask(umask)
    assert account.can_reach(cluster.data)
    assert closed.stat().st_mode & 0o777 == 0o700
    # Opened later on, an empty cluster must not take the place of the one that is there.
    cluster.data.mkdir()
    closed.chmod(0o755)
    assert find_place(closed / "data", system)[0] == cluster


@as_root
def test_a_cluster_that_became_unreachable_is_not_replaced_by_an_empty_one(closed: Path) -> None:
    (closed / "postgres" / "data").mkdir(parents=True)
    with pytest.raises(DatabaseSetupError, match=f"may not enter {closed}.*Nothing was changed"):
        find_place(closed, closed / "system")


@as_root
def test_the_owner_of_the_data_runs_the_server(opened: Path) -> None:
    cluster = Cluster(opened / "postgres")
    cluster.data.mkdir(parents=True)
    os.chown(cluster.data, 4_000_001, 4_000_002)
    assert find_place(opened, opened / "system")[1] == STRANGER


def test_binaries_are_left_where_they_can_be_run(make_install: MakeInstall, tmp_path: Path) -> None:
    binaries = Binaries(make_install("b"), "18.4")
    assert reachable_binaries(binaries, ServerAccount(), tmp_path / "system") == binaries
    assert not (tmp_path / "system").exists()


def test_binaries_are_copied_once_and_readable(closed: Path, make_install: MakeInstall, opened: Path) -> None:
    install = closed / "install"
    shutil.copytree(make_install("b").parent, install)
    (install / "lib").mkdir(mode=0o700)
    (install / "lib" / "libpq.so").write_text("")
    (install / "lib" / "libpq.so").chmod(0o600)
    beside = closed.with_name("closed.libs")
    beside.mkdir()
    (beside / "libz.so").write_text("wheels keep such libraries beside the package")
    (install / "unrelated").write_text("a home directory may be around it")
    system = opened / "system"
    binaries = Binaries(install / "bin", "18.4")
    copied = reachable_binaries(binaries, STRANGER, system)
    assert copied == Binaries(system / "pginstall-18.4" / "closed" / "install" / "bin", "18.4")
    assert STRANGER.can_run(copied.directory / "initdb")
    install_copy = copied.directory.parent
    assert (install_copy / "lib" / "libpq.so").stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in install_copy.iterdir()) == ["bin", "lib"]
    assert (system / "pginstall-18.4" / "closed.libs" / "libz.so").is_file()
    shutil.rmtree(install)
    assert reachable_binaries(binaries, STRANGER, system) == copied
    assert [path.name for path in system.iterdir()] == ["pginstall-18.4"]

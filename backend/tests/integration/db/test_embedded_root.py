"""Started by root, the server runs under another account, and what is closed stays closed."""

import os
import shutil
from pathlib import Path

import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded.binaries import usable_binaries
from app.db.embedded.server import acquire
from tests.integration.db.embedded_support import (
    FAST,
    leased,
    postmaster,
    remember,
    remembered,
    wait_until_stopped,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary account runs the server itself")


def test_files_and_server_belong_to_an_unprivileged_account(data_dir: Path) -> None:
    with leased(data_dir) as lease:
        data = lease.home / "data"
        owner = data.stat().st_uid
        assert owner != 0
        assert Path(f"/proc/{postmaster(lease.home)}").stat().st_uid == owner
        assert data.stat().st_mode & 0o077 == 0
        # It may not exchange what root reads and writes.
        assert lease.home.stat().st_uid == 0
        assert lease.home.stat().st_mode & 0o027 == 0
        for name in ("password", "server.log", "users.lock"):
            assert (lease.home / name).stat().st_uid == 0
        assert (lease.home / "password").stat().st_mode & 0o077 == 0


def test_below_a_closed_directory(data_dir: Path) -> None:
    system = data_dir.parent / "system"
    data_dir.mkdir(mode=0o700)
    install = next(usable_binaries()).directory.parent
    package = install.parent
    venv = data_dir / "venv"
    shutil.copytree(install, venv / package.name / install.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, venv / libraries.name)
    for word in ("first", "second"):
        lease = acquire(
            data_dir,
            options=FAST,
            directories=[venv / package.name / install.name / "bin"],
            system_home=system,
        )
        try:
            assert lease.home.parent == system
            assert str(system) in os.readlink(f"/proc/{postmaster(lease.home)}/exe")
            remember(lease.url, word)
            assert remembered(lease.url)[-1] == word
        finally:
            lease.release()
        wait_until_stopped(lease.home)
    assert data_dir.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in data_dir.iterdir()) == ["venv"]


def test_a_directory_that_was_closed_later(data_dir: Path) -> None:
    with leased(data_dir) as lease:
        remember(lease.url, "precious")
    wait_until_stopped(lease.home)
    data_dir.chmod(0o700)
    with pytest.raises(DatabaseSetupError, match=r"may not enter .*chmod o\+x"):
        acquire(data_dir, system_home=data_dir.parent / "system")
    assert not (data_dir.parent / "system").exists()
    data_dir.chmod(0o755)
    with leased(data_dir) as lease:
        assert remembered(lease.url) == ["precious"]

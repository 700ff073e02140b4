"""What cannot be used is refused with a reason, and left as it was."""

import os
import socket
from pathlib import Path

import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded.cluster import Cluster
from app.db.embedded.server import acquire, server_status
from tests.integration.db.embedded_support import FAST, leased, remember, remembered, wait_until_stopped


def _contents(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_data_of_another_major_version(data_dir: Path) -> None:
    with leased(data_dir) as lease:
        remember(lease.url, "precious")
    cluster = Cluster(lease.home)
    wait_until_stopped(cluster.home)
    version = cluster.data / "PG_VERSION"
    real = version.read_text()
    version.write_text("14\n")
    before = _contents(cluster.data)
    for look in (acquire, server_status):
        with pytest.raises(DatabaseSetupError, match=r"made by Postgres 14.*Nothing was changed"):
            look(data_dir)
    assert _contents(cluster.data) == before
    version.write_text(real)
    with leased(data_dir) as lease:
        assert remembered(lease.url) == ["precious"]


def test_files_of_somebody_else(data_dir: Path) -> None:
    foreign = data_dir / "postgres" / "data" / "thesis.txt"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("three years of work")
    with pytest.raises(DatabaseSetupError, match="not a Postgres data directory; nothing was changed"):
        acquire(data_dir)
    assert foreign.read_text() == "three years of work"


def test_no_binaries(data_dir: Path) -> None:
    with pytest.raises(DatabaseSetupError, match=r"no Postgres .* was found.*DATABASE_URL"):
        acquire(data_dir, directories=[])


def test_a_data_directory_that_is_a_file(data_dir: Path) -> None:
    data_dir.write_text("not a directory")
    with pytest.raises(DatabaseSetupError, match="cannot be set up"):
        acquire(data_dir)
    assert data_dir.read_text() == "not a directory"


def test_a_data_directory_nobody_can_make() -> None:
    with pytest.raises(DatabaseSetupError, match="/proc/phaserunner cannot be set up"):
        acquire(Path("/proc/phaserunner"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_directory_without_permission(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o500)
    with pytest.raises(DatabaseSetupError, match="a permission is missing"):
        acquire(data_dir)


def test_a_port_that_is_always_taken(data_dir: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(DatabaseSetupError, match="port was taken by another program"):
            acquire(data_dir, options=[*FAST, f"port={port}"])
    with leased(data_dir) as lease:
        remember(lease.url, "usable")


def test_a_setting_postgres_does_not_know(data_dir: Path) -> None:
    with pytest.raises(DatabaseSetupError, match=r"unrecognized configuration parameter.*see .*server\.log"):
        acquire(data_dir, options=["nonsense=1"])


@pytest.mark.parametrize("kind", ["wrong", "missing"])
def test_a_password_that_does_not_fit(kind: str, data_dir: Path) -> None:
    with leased(data_dir) as lease:
        pass
    file = Cluster(lease.home).password_file
    password = file.read_text()
    if kind == "wrong":
        file.write_text("guessed")
    else:
        file.unlink()
    with pytest.raises(DatabaseSetupError, match="password"):
        acquire(data_dir, options=FAST)
    file.write_text(password)
    with leased(data_dir) as lease:
        remember(lease.url, "usable")

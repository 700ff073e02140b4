"""Making a cluster as a whole or not at all, and choosing what may touch it."""

from pathlib import Path

import pytest

from app.core.errors import DatabaseSetupError
from app.db.embedded.account import ServerAccount
from app.db.embedded.binaries import Binaries
from app.db.embedded.cluster import Cluster, choose_binaries, explain, make_cluster
from tests.unit.db.conftest import MakeInstall

OURS = ServerAccount()
# As the real one does: the data directory is the second argument, and what it got is kept to be looked at.
MAKES_DATA = 'echo 18 > "$2/PG_VERSION"; echo "$@" > "$2/arguments"; env > "$2/environment"'


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    home = tmp_path / "a home"
    home.mkdir()
    return Cluster(home)


def _with_data(cluster: Cluster, major: str) -> Cluster:
    cluster.data.mkdir()
    (cluster.data / "PG_VERSION").write_text(f"{major}\n")
    return cluster


def test_a_new_cluster_takes_the_first_binaries(cluster: Cluster, make_install: MakeInstall) -> None:
    first, second = make_install("b"), make_install("a", answer="postgres (PostgreSQL) 17.1")
    assert choose_binaries(cluster, [first, second]).directory == first


def test_a_cluster_takes_binaries_of_its_own_version(cluster: Cluster, make_install: MakeInstall) -> None:
    first, second = make_install("b"), make_install("a", answer="postgres (PostgreSQL) 17.1")
    assert choose_binaries(_with_data(cluster, "17"), [first, second]).directory == second


def test_another_major_version_is_refused(cluster: Cluster, make_install: MakeInstall) -> None:
    with pytest.raises(
        DatabaseSetupError, match=r"made by Postgres 14, but .* 18\.4 in .* Nothing was changed"
    ):
        choose_binaries(_with_data(cluster, "14"), [make_install("b")])


@pytest.mark.parametrize("major", [None, "18"], ids=["new", "existing"])
def test_no_binaries(major: str | None, cluster: Cluster) -> None:
    if major is not None:
        _with_data(cluster, major)
    with pytest.raises(DatabaseSetupError, match="Install it, or name a server in DATABASE_URL"):
        choose_binaries(cluster, [])


@pytest.mark.parametrize("kind", ["empty", "foreign files", "file"])
def test_something_else_in_its_place_is_left_alone(kind: str, cluster: Cluster) -> None:
    if kind == "file":
        cluster.data.write_text("mine")
    else:
        cluster.data.mkdir()
    if kind == "foreign files":
        (cluster.data / "thesis.txt").write_text("mine")
    with pytest.raises(DatabaseSetupError, match="not a Postgres data directory; nothing was changed"):
        cluster.major()


def test_a_cluster_gets_its_name_when_it_is_complete(cluster: Cluster, make_install: MakeInstall) -> None:
    binaries = Binaries(make_install("b", initdb=MAKES_DATA), "18.4")
    make_cluster(cluster, binaries, OURS)
    assert cluster.major() == "18"
    assert cluster.password_file.stat().st_mode & 0o777 == 0o600
    assert len(cluster.password()) > 20
    assert sorted(path.name for path in cluster.home.iterdir()) == ["data", "password"]


def test_initdb_is_given_no_secrets(
    cluster: Cluster, make_install: MakeInstall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    make_cluster(cluster, Binaries(make_install("b", initdb=MAKES_DATA), "18.4"), OURS)
    assert "sk-secret" not in (cluster.data / "environment").read_text()
    assert cluster.password() not in (cluster.data / "arguments").read_text()


def test_without_utf8_locale_the_plain_one_is_taken(cluster: Cluster, make_install: MakeInstall) -> None:
    picky = f"""
    case "$*" in *C.UTF-8*) echo 'initdb: error: invalid locale name "C.UTF-8"' >&2; exit 1;; esac
    {MAKES_DATA}"""
    make_cluster(cluster, Binaries(make_install("b", initdb=picky), "18.4"), OURS)
    assert "--locale=C " in (cluster.data / "arguments").read_text()


def test_the_password_of_data_that_were_moved_away_is_kept(
    cluster: Cluster, make_install: MakeInstall
) -> None:
    binaries = Binaries(make_install("b", initdb=MAKES_DATA), "18.4")
    make_cluster(cluster, binaries, OURS)
    password = cluster.password()
    cluster.data.rename(cluster.home / "moved away")
    make_cluster(cluster, binaries, OURS)
    assert cluster.password() == password


FAILURES = {
    "disk full": ("could not write to file: No space left on device", "the disk is full"),
    "quota": ("could not write to file: Disk quota exceeded", "quota"),
    "read-only": ("could not create directory: Read-only file system", "read-only"),
    "no permission": ("could not access directory: Permission denied", "DATA_DIR that is yours"),
    "no such user": ("could not look up effective user ID 4242: user does not exist", "/etc/passwd"),
    "unknown": ("it rains", r"created in .*: initdb: it rains"),
    "nothing said": ("", "initdb:"),
}


@pytest.mark.parametrize(("said", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_is_explained_and_leaves_no_data(
    said: str, reason: str, cluster: Cluster, make_install: MakeInstall
) -> None:
    failing = f'echo half > "$2/PG_VERSION"; echo "initdb: {said}" >&2; exit 1'
    with pytest.raises(DatabaseSetupError, match=reason):
        make_cluster(cluster, Binaries(make_install("b", initdb=failing), "18.4"), OURS)
    assert [path.name for path in cluster.home.iterdir()] == ["password"]


def test_leftovers_of_a_killed_initdb_are_removed(cluster: Cluster, make_install: MakeInstall) -> None:
    (cluster.home / "data.new").mkdir()
    (cluster.home / "data.new" / "half").write_text("")
    (cluster.home / "password.new").write_text("old")
    make_cluster(cluster, Binaries(make_install("b", initdb=MAKES_DATA), "18.4"), OURS)
    assert sorted(path.name for path in cluster.home.iterdir()) == ["data", "password"]
    assert not (cluster.data / "half").exists()


def test_the_end_of_a_long_log_is_told() -> None:
    assert explain("\n".join(f"line {number}" for number in range(9))) == "line 5 / line 6 / line 7 / line 8"
    assert explain(" \n") == "it said nothing"

"""How the directory of a service is made, and how its database is kept."""

import os
import stat
from pathlib import Path

import anyio
import pytest

import app.composition.database as composition
from app.composition.database import open_database, prepare_data_dir
from app.core.config import Settings
from app.core.errors import DatabaseSetupError, InvalidInputError
from tests.patience import until

pytestmark = pytest.mark.anyio

PASSABLE = 0o711 if os.geteuid() == 0 else 0o700


@pytest.mark.parametrize(
    "exists", [pytest.param(False, id="new"), pytest.param(True, id="of-an-older-version")]
)
async def test_other_users_see_nothing_of_the_runs(tmp_path: Path, exists: bool) -> None:
    place = tmp_path / "data"
    if exists:
        (place / "runs").mkdir(parents=True)
        place.chmod(0o755)
        (place / "runs").chmod(0o755)
    await prepare_data_dir(anyio.Path(place))
    assert stat.S_IMODE(place.stat().st_mode) == PASSABLE
    for name in ("runs", "scratch", "environments", "logfire"):
        assert stat.S_IMODE((place / name).stat().st_mode) == 0o700


async def test_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(InvalidInputError) as raised:
        await prepare_data_dir(anyio.Path(tmp_path / "data"))
    assert raised.value.field == "DATA_DIR"


class KilledServer:
    """The lease of a server that is found dead, and starts at the second try."""

    url = "postgresql://app@127.0.0.1/phaserunner"

    def __init__(self) -> None:
        self.tries = 0
        self.is_released = False

    def revive(self) -> bool:
        assert not self.is_released
        self.tries += 1
        if self.tries == 1:
            raise DatabaseSetupError("no space left")
        return self.tries == 2

    def release(self) -> None:
        self.is_released = True


async def test_an_embedded_server_that_is_killed_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lease = KilledServer()

    async def give(*_: object) -> KilledServer:
        return lease

    monkeypatch.setattr(composition, "ensure_running", give)
    monkeypatch.setattr(composition, "upgrade_to_head", give)
    monkeypatch.setattr(composition, "_SERVER_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(composition, "_SERVER_RETRY_SECONDS", 0.01)
    async with open_database(Settings(DATA_DIR=tmp_path / "data", DATABASE_URL=None)) as url:
        assert url == lease.url
        await anyio.to_thread.run_sync(until, lambda: lease.tries > 2)
    assert lease.is_released
    assert [each.message for each in caplog.records if "embedded" in each.message] == [
        "the embedded database cannot be started again, retrying: no space left",
        "the embedded database had ended and was started again",
    ]

"""How the directory of a service is made."""

import os
import stat
from pathlib import Path

import anyio
import pytest

from app.composition.database import prepare_data_dir
from app.core.errors import InvalidInputError

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

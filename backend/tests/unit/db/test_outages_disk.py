"""A full disk has a name of its own; what is to be recorded waits for it."""

import errno

import asyncpg
import pytest

from app.db.outages import is_disk_full, is_outage


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(OSError(errno.ENOSPC, "No space left on device"), id="this-machine"),
        pytest.param(OSError(errno.EDQUOT, "Disk quota exceeded"), id="a-quota"),
        pytest.param(asyncpg.DiskFullError("could not extend file"), id="the-database"),
    ],
)
def test_a_full_disk(error: BaseException) -> None:
    assert is_disk_full(error)


def test_what_is_to_be_recorded_waits_for_the_disk_of_the_database() -> None:
    assert is_outage(asyncpg.DiskFullError("could not extend file"))


def test_an_outage_is_no_full_disk() -> None:
    assert not is_disk_full(ConnectionRefusedError())
    assert not is_disk_full(asyncpg.TooManyConnectionsError("too many"))

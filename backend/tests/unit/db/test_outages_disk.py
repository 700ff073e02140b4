"""A full disk has a name of its own; what is to be recorded waits for it."""

import errno

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError

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


@pytest.mark.parametrize(
    ("error", "may_succeed_again"),
    [
        pytest.param(asyncpg.DeadlockDetectedError("deadlock detected"), True, id="deadlock"),
        pytest.param(asyncpg.SerializationError("could not serialize access"), True, id="serialization"),
        pytest.param(asyncpg.UniqueViolationError("duplicate key"), False, id="a duplicate"),
    ],
)
def test_a_transaction_that_the_database_undid_is_tried_again(error, *, may_succeed_again: bool) -> None:
    assert is_outage(error) is may_succeed_again
    wrapped = DBAPIError("UPDATE runs", None, error)
    wrapped.orig = error
    assert is_outage(wrapped) is may_succeed_again


def test_an_outage_is_no_full_disk() -> None:
    assert not is_disk_full(ConnectionRefusedError())
    assert not is_disk_full(asyncpg.TooManyConnectionsError("too many"))

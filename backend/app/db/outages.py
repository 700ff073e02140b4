"""Tells outages and overload of the database from other errors, and waits for the database."""

import asyncio
import errno
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.25
"""Seconds between two tries to connect to an unavailable database; each try is one refused connection."""

# SQLSTATE classes: connection, insufficient resources, operator intervention (shutting or starting up).
_OUTAGE_CLASSES = ("08", "53", "57")
# The database has undone our transaction: it was idle for too long, because this process was stopped
# meanwhile; two transactions waited for each other; or one saw what another changed.
_UNDONE = ("25P03", "40P01", "40001")
_DISK_FULL = "53100"
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}

Value = TypeVar("Value")


def is_outage(error: BaseException) -> bool:
    """Return whether the same request may succeed once the database is back."""
    match error:
        case DBAPIError():
            broken = error.connection_invalidated or isinstance(error, InterfaceError | OperationalError)
            return broken or _is_outage_state(getattr(error.orig, "sqlstate", None))
        case asyncpg.PostgresError():
            return _is_outage_state(error.sqlstate)
        case asyncpg.InterfaceError() | NoConnectionError():
            return True
        case ConnectionError() | TimeoutError() | socket.gaierror():
            return True
        case OSError():
            # Unreadable or unwritable files also raise OSError and are no outage. If a host name has several
            # addresses and none answers, the error has no number.
            several = error.errno is None and str(error).startswith("Multiple exceptions: ")
            return several or error.errno in _UNREACHABLE
        case _:
            return False


def is_disk_full(error: BaseException) -> bool:
    """Return whether the disk of this machine or of the database has no space left."""
    match error:
        case DBAPIError():
            return getattr(error.orig, "sqlstate", None) == _DISK_FULL
        case asyncpg.PostgresError():
            return error.sqlstate == _DISK_FULL
        case OSError():
            return error.errno in (errno.ENOSPC, errno.EDQUOT)
        case _:
            return False


async def through_outages(operation: Callable[[], Awaitable[Value]]) -> Value:
    """Repeat an operation while the database is unavailable or undoes it; raise all other errors.

    An operation may have been committed although its reply was lost, so it must check
    the present state itself.
    """
    told = False
    while True:
        try:
            return await operation()
        except Exception as error:
            if not is_outage(error):
                raise
            if not told:
                logger.warning("the database cannot do this now, trying again: %s", error)
                told = True
        await asyncio.sleep(PAUSE_SECONDS)


def _is_outage_state(state: object) -> bool:
    return isinstance(state, str) and (state.startswith(_OUTAGE_CLASSES) or state in _UNDONE)

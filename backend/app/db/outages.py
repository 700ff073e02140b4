"""Distinguishes an unavailable or overloaded database from our own errors, and waits for it."""

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
"""Between two questions to a database that is away; each is a connection that is refused."""

# SQLSTATE classes: connection, insufficient resources, operator intervention (shutting or starting up).
_OUTAGE_CLASSES = ("08", "53", "57")
# Ours was open for too long without a statement: this process was stopped meanwhile.
_IDLE_IN_TRANSACTION = "25P03"
_DISK_FULL = "53100"
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}

Value = TypeVar("Value")


def is_outage(error: BaseException) -> bool:
    """True when the same request may succeed as soon as the database is back."""
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
            # Files that cannot be read or written are OSErrors too, and no outage. A name with several
            # addresses, none of which answers, is one without a number.
            several = error.errno is None and str(error).startswith("Multiple exceptions: ")
            return several or error.errno in _UNREACHABLE
        case _:
            return False


def is_disk_full(error: BaseException) -> bool:
    """True when the disk of this machine or of the database has no space left."""
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
    """Repeat an operation for as long as the database is unavailable; other errors are raised.

    An operation can have been committed although the answer was lost: it must find out what holds.
    """
    told = False
    while True:
        try:
            return await operation()
        except Exception as error:
            if not is_outage(error):
                raise
            if not told:
                logger.warning("the database is unavailable, waiting for it: %s", error)
                told = True
        await asyncio.sleep(PAUSE_SECONDS)


def _is_outage_state(state: object) -> bool:
    return isinstance(state, str) and (state.startswith(_OUTAGE_CLASSES) or state == _IDLE_IN_TRANSACTION)
